// SPDX-License-Identifier: MIT
// verdict: spin flag_never_set.cu:7
// Thread 0 waits for a flag that nobody sets.
#include <cuda_runtime.h>

__global__ void wait(volatile int* flag, int* out) {
    while (*flag == 0) {
    }
    *out = 1;
}

int main() {
    int* flag = nullptr;
    cudaMalloc(&flag, 2 * sizeof(int));
    cudaMemset(flag, 0, 2 * sizeof(int));
    wait<<<1, 1>>>(flag, flag + 1);
    cudaDeviceSynchronize();
    cudaFree(flag);
}
