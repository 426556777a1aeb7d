// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global global_past_end.cu:9
// One thread an element, and no bounds check for the last block.
#include <cuda_runtime.h>

__global__ void scale(float* x, float factor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    (void)n;
    x[i] = factor;
}

int main() {
    constexpr int n = 1000;
    float* x = nullptr;
    cudaMalloc(&x, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(x, 2.0F, n);
    cudaDeviceSynchronize();
    cudaFree(x);
}
