// SPDX-License-Identifier: MIT
// verdict: barrier large_tile_that_not_all_come_to.cu:13
// A tile of 64 threads: one warp waits for the other, which waits at the block's barrier.
#include <cooperative_groups.h>

#include <cstdlib>

namespace cg = cooperative_groups;

__global__ void meet() {
    const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    if (threadIdx.x < 32) {
        tile.sync();
    }
    __syncthreads();
}

int main() {
    meet<<<1, 64>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
