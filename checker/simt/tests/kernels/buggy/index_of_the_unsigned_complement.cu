// SPDX-License-Identifier: MIT
// verdict: out_of_bounds shared index_of_the_unsigned_complement.cu:11
// ~i of an unsigned i is 2^32 - 1 - i.
#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    cells[threadIdx.x] = 1;
    __syncthreads();
    const int* const p = cells;
    out[threadIdx.x] = p[~threadIdx.x];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
