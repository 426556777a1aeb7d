// SPDX-License-Identifier: MIT
// verdict: race shared neighbour_without_barrier.cu:12 neighbour_without_barrier.cu:13
// Each thread reads its neighbour's element of shared memory, which the neighbour may be changing.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void shift(float* out, const float* inp) {
    __shared__ float tile[64];
    tile[threadIdx.x] = inp[threadIdx.x];
    __syncthreads();
    const float left = tile[(threadIdx.x + 63) % 64];
    tile[threadIdx.x] = left;
    out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
    float *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMalloc(&inp, 64 * sizeof(float));
    cudaMemset(inp, 0, 64 * sizeof(float));
    shift<<<1, 64>>>(out, inp);
    cudaFree(out);
    cudaFree(inp);
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
