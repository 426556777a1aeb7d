// SPDX-License-Identifier: MIT
// verdict: stack_overflow local stack_overflow.cu:7
// A recursion without its end.
#include <cuda_runtime.h>

// clang-format off
__device__ int depth(volatile int* x, int n) { volatile int here[64]; here[n % 64] = n; return *x != 0 ? n : depth(x, n + 1) + here[n % 64]; }
// clang-format on

__global__ void recurse(int* x) {
    x[1] = depth(x, 0);
}

int main() {
    int* x = nullptr;
    cudaMalloc(&x, 2 * sizeof(int));
    cudaMemset(x, 0, 2 * sizeof(int));
    recurse<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
