// SPDX-License-Identifier: MIT
// verdict: collective large_tile_of_missing_threads.cu:14
// verdict: collective large_tile_of_missing_threads.cu:16
// verdict: collective large_tile_of_missing_threads.cu:25
// Tiles of 64 threads add up, and some of the threads were never there or have left. And the first block is too large for
// the memory of its tiles.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void never_there(int* out) {
    __shared__ cg::block_tile_memory<64> memory;
    const auto block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<64>(block);
    out[threadIdx.x] = cg::reduce(tile, 1, cg::plus<int>());
}

__global__ void have_left(int* out) {
    const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    const int i = static_cast<int>(threadIdx.x);
    if (i >= 32) {
        return;
    }
    out[i] = cg::reduce(tile, 1, cg::plus<int>());
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 96 * sizeof(int));
    never_there<<<1, 96>>>(out);
    have_left<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
