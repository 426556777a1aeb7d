// SPDX-License-Identifier: MIT
// verdict: out_of_bounds shared shared_past_end.cu:7 called at shared_past_end.cu:12
// A tile of 64 floats that is filled by 65 threads through a pointer.
#include <cuda_runtime.h>

__device__ void fill(float* tile) {
    tile[threadIdx.x] = 1.0F;
}

__global__ void use_tile(float* out) {
    __shared__ float tile[64];
    fill(tile);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x % 64];
}

int main() {
    float* out = nullptr;
    cudaMalloc(&out, 65 * sizeof(float));
    use_tile<<<1, 65>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
