// SPDX-License-Identifier: MIT
// verdict: time_limit loop_with_stride_zero.cu:8
// The stride of the grid-stride loop is the integer quotient 0.
#include <cuda_runtime.h>

__global__ void fill(float* out, int n, int stride) {
    // clang-format off
    for (int i = threadIdx.x; i < n; i += stride) { out[i] = 1.0F; }
    // clang-format on
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(float));
    fill<<<1, 1>>>(out, 64, 1 / 2);
    cudaDeviceSynchronize();
    cudaFree(out);
}
