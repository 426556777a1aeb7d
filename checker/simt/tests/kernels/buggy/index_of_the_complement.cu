// SPDX-License-Identifier: MIT
// verdict: out_of_bounds shared index_of_the_complement.cu:12
// ~i is -1 - i: some kilobytes before the array.
#include <cuda_runtime.h>

__global__ void kernel(int* out) {
    __shared__ int cells[64];
    const int i = static_cast<int>(threadIdx.x);
    cells[i] = i;
    __syncthreads();
    const int* const p = cells;
    out[i] = p[~(i + 1000)];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
