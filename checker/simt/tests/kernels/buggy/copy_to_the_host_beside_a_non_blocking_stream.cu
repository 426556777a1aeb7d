// SPDX-License-Identifier: MIT
// verdict: race streams copy_to_the_host_beside_a_non_blocking_stream.cu:9 copy_to_the_host_beside_a_non_blocking_stream.cu:20
// cudaMemcpy waits for the default stream and the blocking ones only.
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
    cudaMemset(x, 0, sizeof host);
    cudaDeviceSynchronize();
    fill<<<1, 32, 0, stream>>>(x, 1);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaStreamDestroy(stream);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
