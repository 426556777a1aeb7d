// SPDX-License-Identifier: MIT
// verdict: race global lock_that_one_block_takes_without_a_fence.cu:15 lock_that_one_block_takes_without_a_fence.cu:19
// Block 0 takes the lock without a fence. That is wrong only if block 1 had it before.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ int locked;

__global__ void kernel(int* number) {
    while (atomicCAS(&locked, 0, 1) != 0) {
    }
    if (blockIdx.x == 0) {
        // What it reads here may be from before.
        *number += 1;
        __threadfence();
    } else {
        __threadfence();
        *number += 10;
        __threadfence();
    }
    atomicExch(&locked, 0);
}

int main() {
    int* number = nullptr;
    cudaMalloc(&number, sizeof(int));
    cudaMemset(number, 0, sizeof(int));
    kernel<<<2, 1>>>(number);
    cudaDeviceSynchronize();
    cudaFree(number);
    return EXIT_SUCCESS;
}
