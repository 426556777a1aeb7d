// SPDX-License-Identifier: MIT
// verdict: race shared helpers_without_a_barrier.cu:9 called at helpers_without_a_barrier.cu:21 helpers_without_a_barrier.cu:13 called at helpers_without_a_barrier.cu:22
// One helper fills a tile and another one reads it; the barrier that is missing belongs into the kernel.
#include <cuda_runtime.h>

#include <cstdlib>

__device__ void put(int* tile, int at, int value) {
    tile[at] = value;
}

__device__ int take(const int* tile, int at) {
    return tile[at];
}

__global__ void kernel(int* out) {
    __shared__ int tile[64];
    const int t = static_cast<int>(threadIdx.x);
    tile[t] = 0;
    __syncthreads();
    put(tile, t, t);
    out[t] = take(tile, 63 - t);
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return EXIT_SUCCESS;
}
