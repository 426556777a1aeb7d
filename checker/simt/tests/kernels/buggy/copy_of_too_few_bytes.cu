// SPDX-License-Identifier: MIT
// verdict: uninitialised global copy_of_too_few_bytes.cu:9
// cudaMemcpy is given elements for bytes: three quarters of the input never arrive.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void twice(float* out, const float* inp) {
    out[threadIdx.x] = 2.0F * inp[threadIdx.x];
}

int main() {
    constexpr int n = 64;
    float host[n] = {};
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&inp, n * sizeof(float));
    cudaMemcpy(inp, host, n, cudaMemcpyHostToDevice);
    twice<<<1, n>>>(out, inp);
    cudaFree(out);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
