// SPDX-License-Identifier: MIT
// verdict: time_limit loop_without_memory.cu:9
// Newton's iteration until it is exact, which it never is.
#include <cuda_runtime.h>

__global__ void root(float* out, float x) {
    float y = x;
    // clang-format off
    while (y * y != x) { y = 0.5F * (y + x / y); }
    // clang-format on
    *out = y;
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, sizeof(float));
    root<<<1, 1>>>(out, 3.0F);
    cudaDeviceSynchronize();
    cudaFree(out);
}
