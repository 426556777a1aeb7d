// SPDX-License-Identifier: MIT
// verdict: out_of_bounds shared dynamic_shared_too_small.cu:8
// The launch gives bytes for 100 floats, the kernel uses 128.
#include <cuda_runtime.h>

__global__ void reverse(float* x) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 100) {
        x[threadIdx.x] = tile[99 - threadIdx.x];
    }
}

int main() {
    float* x = nullptr;
    cudaMalloc(&x, 128 * sizeof(float));
    cudaMemset(x, 0, 128 * sizeof(float));
    reverse<<<1, 128, 100 * sizeof(float)>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
