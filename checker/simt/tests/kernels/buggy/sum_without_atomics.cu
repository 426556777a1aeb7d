// SPDX-License-Identifier: MIT
// verdict: race global sum_without_atomics.cu:9 sum_without_atomics.cu:9
// All threads of all blocks add to one number, as if each were alone.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void count(int* sum) {
    *sum += 1;
}

int main() {
    int* sum = nullptr;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    count<<<4, 64>>>(sum);
    cudaFree(sum);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
