// SPDX-License-Identifier: MIT
// verdict: uninitialised global blocks_rounded_down.cu:18
// The grid is n / block, rounded down: nobody writes the last elements, and the next kernel reads them.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 1.0F;
    }
}

__global__ void add_one(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += 1.0F;
    }
}

int main() {
    constexpr int n = 100, block = 32;
    float* x = nullptr;
    cudaMalloc(&x, n * sizeof(float));
    fill<<<n / block, block>>>(x, n);
    add_one<<<(n + block - 1) / block, block>>>(x, n);
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
