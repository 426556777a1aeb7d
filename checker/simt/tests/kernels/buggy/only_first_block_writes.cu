// SPDX-License-Identifier: MIT
// verdict: uninitialised shared only_first_block_writes.cu:12
// Shared memory does not outlive its block.
#include <cuda_runtime.h>

__global__ void reuse(float* out) {
    __shared__ float tile[32];
    if (blockIdx.x == 0) {
        tile[threadIdx.x] = 1.0F;
    }
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = tile[31 - threadIdx.x];
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(float));
    reuse<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
