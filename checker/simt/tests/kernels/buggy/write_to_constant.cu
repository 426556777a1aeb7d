// SPDX-License-Identifier: MIT
// verdict: read_only constant write_to_constant.cu:11 called at write_to_constant.cu:15
// A kernel changes a table of constants through a pointer to it.
#include <cuda_runtime.h>

#include <cstdlib>

__constant__ float table[8];

__device__ void scale(float* entry, float factor) {
    *entry *= factor;
}

__global__ void prepare() {
    scale(&table[threadIdx.x], 2.0F);
}

int main() {
    const float host[8] = {};
    cudaMemcpyToSymbol(table, host, sizeof host);
    prepare<<<1, 8>>>();
    cudaDeviceSynchronize();
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
