// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global halo_of_stencil.cu:12
// The first element has no left neighbour.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void smooth(float* out, const float* inp, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float right = i + 1 < n ? inp[i + 1] : 0.0F;
        const float left = inp[i - 1];
        out[i] = 0.5F * (left + right);
    }
}

int main() {
    constexpr int n = 100;
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemset(inp, 0, n * sizeof(float));
    smooth<<<4, 32>>>(out, inp, n);
    cudaFree(out);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
