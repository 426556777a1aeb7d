// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global global_before_start.cu:9
// A stencil that looks to the left of the first element.
#include <cuda_runtime.h>

__global__ void difference(float* out, const float* inp, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float left = inp[i - 1];
        out[i] = inp[i] - left;
    }
}

int main() {
    constexpr int n = 256;
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemset(inp, 0, n * sizeof(float));
    difference<<<1, 256>>>(out, inp, n);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(inp);
}
