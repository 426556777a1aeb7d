// SPDX-License-Identifier: MIT
// verdict: collective barrier_against_warp.cu:10
// Half a warp waits for the block, the other half for the warp.
#include <cuda_runtime.h>

__global__ void wait(float* out) {
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        __syncwarp();
    }
    out[threadIdx.x] = 1.0F;
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(float));
    wait<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
