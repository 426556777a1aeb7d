// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global vector_tail.cu:11
// A row whose length is no multiple of 4 is read in float4: the last one goes past the end.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void sums(float* out, const float* inp, int n) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        const float4 v = *reinterpret_cast<const float4*>(inp + i);
        out[i / 4] = v.x + v.y + v.z + v.w;
    }
}

int main() {
    constexpr int n = 50;
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, (n + 3) / 4 * sizeof(float));
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemset(inp, 0, n * sizeof(float));
    sums<<<1, 32>>>(out, inp, n);
    cudaFree(out);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
