// SPDX-License-Identifier: MIT
// verdict: race shared tile_between_lanes_and_warps.cu:14 tile_between_lanes_and_warps.cu:17
// Without a barrier the lanes of a warp race with each other, and with the other warp: the same two lines.
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void kernel(int* out) {
    __shared__ int tile[64];
    const int t = static_cast<int>(threadIdx.x);
    tile[t] = 0;
    __syncthreads();
    // Each thread writes a word that all of them read.
    tile[t] = t;
    int sum = 0;
    for (int k = 0; k < 64; k++) {
        sum += tile[(t + k) % 64];
    }
    out[t] = sum;
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 64 * sizeof(int));
    kernel<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return EXIT_SUCCESS;
}
