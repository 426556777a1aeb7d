// SPDX-License-Identifier: MIT
// verdict: misaligned misaligned_by_eight.cu:7
// A row of 62 floats read as float4: the second row begins at a multiple of 8 bytes only.
#include <cuda_runtime.h>

__global__ void first_of_row(float4* out, const float* inp, int C) {
    out[threadIdx.x] = *reinterpret_cast<const float4*>(inp + threadIdx.x * C);
}

int main() {
    float4* out = nullptr;
    float* inp = nullptr;
    cudaMalloc(&out, 2 * sizeof(float4));
    cudaMalloc(&inp, 128 * sizeof(float));
    cudaMemset(inp, 0, 128 * sizeof(float));
    first_of_row<<<1, 2>>>(out, inp, 62);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(inp);
}
