// SPDX-License-Identifier: MIT
// verdict: correct
// A stream is destroyed with work in it, which still ends.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int *x = nullptr, host[32];
    cudaMalloc(&x, sizeof host);
    fill<<<1, 32, 0, stream>>>(x, 4);
    cudaStreamDestroy(stream);
    cudaDeviceSynchronize();
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    return host[31] == 4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
