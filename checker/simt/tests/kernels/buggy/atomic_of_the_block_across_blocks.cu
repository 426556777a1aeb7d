// SPDX-License-Identifier: MIT
// verdict: race global atomic_of_the_block_across_blocks.cu:9 atomic_of_the_block_across_blocks.cu:9
// atomicAdd_block is atomic for the threads of one block.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    atomicAdd_block(out, 1);
}

int main() {
    constexpr int n = 1;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    kernel<<<4, 32>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
