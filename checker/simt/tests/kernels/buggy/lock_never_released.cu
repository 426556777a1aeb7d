// SPDX-License-Identifier: MIT
// verdict: spin lock_never_released.cu:7
// The first thread keeps the lock.
#include <cuda_runtime.h>

__global__ void count(int* lock, int* counter) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *counter += 1;
    __threadfence();
}

int main() {
    int* memory = nullptr;
    cudaMalloc(&memory, 2 * sizeof(int));
    cudaMemset(memory, 0, 2 * sizeof(int));
    count<<<2, 1>>>(memory, memory + 1);
    cudaDeviceSynchronize();
    cudaFree(memory);
}
