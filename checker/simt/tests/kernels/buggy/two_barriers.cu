// SPDX-License-Identifier: MIT
// verdict: barrier two_barriers.cu:10
// Each half of the block waits at a barrier of its own.
#include <cuda_runtime.h>

__global__ void halves(float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = 1.0F;
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x + 32];
    } else {
        __syncthreads();
        out[threadIdx.x] = tile[threadIdx.x - 32];
    }
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(float));
    halves<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
