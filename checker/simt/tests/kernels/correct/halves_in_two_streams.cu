// SPDX-License-Identifier: MIT
// verdict: correct
// Two streams work on the two halves of one buffer.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(int* x, int value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *x = nullptr, host[128];
    cudaMalloc(&x, sizeof host);
    fill<<<2, 32, 0, first>>>(x, 1);
    fill<<<2, 32, 0, second>>>(x + 64, 2);
    cudaDeviceSynchronize();
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return host[63] == 1 && host[64] == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
