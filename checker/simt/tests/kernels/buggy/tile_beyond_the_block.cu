// SPDX-License-Identifier: MIT
// verdict: collective tile_beyond_the_block.cu:11
// Tiles of 32 in a block of 80 threads: the last tile has half of its threads.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void reversed(int* out) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const int rank = static_cast<int>(tile.thread_rank());
    out[threadIdx.x] = tile.shfl(static_cast<int>(threadIdx.x), 31 - rank);
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 80 * sizeof(int));
    cudaMemset(out, 0, 80 * sizeof(int));
    reversed<<<1, 80>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
