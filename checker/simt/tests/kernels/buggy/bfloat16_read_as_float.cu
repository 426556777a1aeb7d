// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global bfloat16_read_as_float.cu:10
// A buffer of 2-byte numbers is read as floats: the second half lies past the end.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void copy(float* out, const __nv_bfloat16* inp) {
    out[threadIdx.x] = reinterpret_cast<const float*>(inp)[threadIdx.x];
}

int main() {
    constexpr int n = 64;
    float* out = nullptr;
    __nv_bfloat16* inp = nullptr;
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&inp, n * sizeof(__nv_bfloat16));
    cudaMemset(inp, 0, n * sizeof(__nv_bfloat16));
    copy<<<1, n>>>(out, inp);
    cudaFree(out);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
