// SPDX-License-Identifier: MIT
// verdict: out_of_bounds global memcpy_of_a_fixed_size_past_end.cu:10
// Each thread copies 64 bytes, a size that the compiler knows; the last one has only 32 left.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

__global__ void copy(char* out, const char* inp) {
    memcpy(out + 64 * threadIdx.x, inp + 32 * threadIdx.x, 64);
}

int main() {
    char *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 4 * 64);
    cudaMalloc(&inp, 4 * 32);
    cudaMemset(inp, 0, 4 * 32);
    copy<<<1, 4>>>(out, inp);
    cudaFree(out);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
