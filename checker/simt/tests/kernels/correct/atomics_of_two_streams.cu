// SPDX-License-Identifier: MIT
// verdict: correct
// Kernels in two streams count in one cell, atomically.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count(int* total) {
    atomicAdd(total, 1);
}

int main() {
    cudaStream_t first = nullptr, second = nullptr;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    int *total = nullptr, host = 0;
    cudaMalloc(&total, sizeof host);
    cudaMemset(total, 0, sizeof host);
    cudaDeviceSynchronize();
    count<<<2, 64, 0, first>>>(total);
    count<<<2, 64, 0, second>>>(total);
    cudaDeviceSynchronize();
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(total);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return host == 256 ? EXIT_SUCCESS : EXIT_FAILURE;
}
