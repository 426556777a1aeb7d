// SPDX-License-Identifier: MIT
// verdict: use_after_free global use_after_free.cu:7
// The input is freed before the kernel runs.
#include <cuda_runtime.h>

__global__ void copy(float* out, const float* inp) {
    out[threadIdx.x] = inp[threadIdx.x];
}

int main() {
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMalloc(&inp, 32 * sizeof(float));
    cudaMemset(inp, 0, 32 * sizeof(float));
    cudaFree(inp);
    copy<<<1, 32>>>(out, inp);
    cudaDeviceSynchronize();
    cudaFree(out);
}
