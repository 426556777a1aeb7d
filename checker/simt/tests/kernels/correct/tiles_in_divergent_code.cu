// SPDX-License-Identifier: MIT
// verdict: correct
// Tiles of one warp take different branches, loop differently often, and leave early as wholes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdlib>

namespace cg = cooperative_groups;

__global__ void sums(int* out) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int number = static_cast<int>(tile.meta_group_rank());
    const int rank = static_cast<int>(tile.thread_rank());
    if (number == 3) {
        return;
    }
    int sum = 0;
    for (int i = 0; i <= number; i++) {
        sum += cg::reduce(tile, rank + i, cg::plus<int>());
        tile.sync();
    }
    if (number % 2 == 0) {
        sum += tile.shfl(rank, 7);
    } else {
        sum -= tile.shfl_xor(rank, 1) - rank + (rank % 2 == 0 ? -1 : 1);
    }
    if (rank == 0) {
        out[number] = sum;
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 3 * sizeof(int));
    sums<<<1, 32>>>(out);
    int host[3] = {};
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    // Tile t adds 28 + 8 i for i up to t. Even ones add 7; what odd ones take off is 0.
    return host[0] == 28 + 7 && host[1] == 28 + 36 && host[2] == 28 + 36 + 44 + 7 ? EXIT_SUCCESS : EXIT_FAILURE;
}
