// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global elements_for_bytes.cu:11
// cudaMalloc is asked for as many bytes as there are elements.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void fill(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 1.0F;
    }
}

int main() {
    constexpr int n = 64;
    float* x = nullptr;
    cudaMalloc(&x, n);
    fill<<<1, n>>>(x, n);
    cudaFree(x);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
