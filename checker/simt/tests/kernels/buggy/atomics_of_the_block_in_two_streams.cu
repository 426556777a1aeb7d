// SPDX-License-Identifier: MIT
// verdict: race streams atomics_of_the_block_in_two_streams.cu:9 atomics_of_the_block_in_two_streams.cu:9
// Atomics of the block's scope are none between the blocks of two streams.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count(int* total) {
    atomicAdd_block(total, 1);
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *x = nullptr, *out = nullptr;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    cudaDeviceSynchronize();
    count<<<1, 32, 0, first>>>(x);
    count<<<1, 32, 0, second>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
