// SPDX-License-Identifier: MIT
// verdict: out_of_bounds constant constant_past_end.cu:12
// A table of constants has 8 entries; the kernel looks for a ninth.
#include <cuda_runtime.h>

#include <cstdlib>

__constant__ float table[8];

__global__ void look_up(float* out) {
    const float* entry = table;
    out[threadIdx.x] = entry[threadIdx.x];
}

int main() {
    const float host[8] = {};
    cudaMemcpyToSymbol(table, host, sizeof host);
    float* out = nullptr;
    cudaMalloc(&out, 9 * sizeof(float));
    look_up<<<1, 9>>>(out);
    cudaFree(out);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
