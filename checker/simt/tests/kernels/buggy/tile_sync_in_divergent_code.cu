// SPDX-License-Identifier: MIT
// verdict: collective tile_sync_in_divergent_code.cu:16
// Only half of each tile comes to its sync().
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void exchange(int* out) {
    __shared__ int tile_values[32];
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int rank = static_cast<int>(tile.thread_rank());
    const int first = 16 * static_cast<int>(tile.meta_group_rank());
    tile_values[threadIdx.x] = rank;
    __syncthreads();
    if (rank < 8) {
        tile.sync();
        out[threadIdx.x] = tile_values[first + rank + 8];
    } else {
        __syncthreads();
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    exchange<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
