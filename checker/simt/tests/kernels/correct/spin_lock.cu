// SPDX-License-Identifier: MIT
// verdict: correct
// One thread a block takes a lock, adds without an atomic, and gives it back.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void add(int* memory) {
    int* lock = memory;
    volatile int* counter = memory + 1;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main() {
    constexpr int n = 2;
    int host[n];
    int* out = nullptr;
    cudaMalloc(&out, n * sizeof(int));
    cudaMemset(out, 0, n * sizeof(int));
    add<<<40, 1>>>(out);
    cudaMemcpy(host, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host[1] == 40 ? EXIT_SUCCESS : EXIT_FAILURE;
}
