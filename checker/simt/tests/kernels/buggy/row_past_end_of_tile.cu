// SPDX-License-Identifier: MIT
// verdict: out_of_bounds array row_past_end_of_tile.cu:12
// Columns and rows of a tile are swapped: it has 16 rows of 8.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void transpose(float* out, const float* inp) {
    __shared__ float tile[16][8];
    tile[threadIdx.y][threadIdx.x] = inp[threadIdx.y * 8 + threadIdx.x];
    __syncthreads();
    out[threadIdx.x * 16 + threadIdx.y] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 128 * sizeof(float));
    cudaMalloc(&inp, 128 * sizeof(float));
    cudaMemset(inp, 0, 128 * sizeof(float));
    transpose<<<1, dim3(8, 16)>>>(out, inp);
    cudaFree(out);
    cudaFree(inp);
    cudaDeviceSynchronize();
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
