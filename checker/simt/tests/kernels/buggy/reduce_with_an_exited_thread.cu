// SPDX-License-Identifier: MIT
// verdict: collective reduce_with_an_exited_thread.cu:14
// The threads beyond the data leave, and the others add up a tile that names them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void sums(int* out) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    if (threadIdx.x >= 50) {
        return;
    }
    const int sum = cg::reduce(tile, 1, cg::plus<int>());
    if (tile.thread_rank() == 0) {
        out[tile.meta_group_rank()] = sum;
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 2 * sizeof(int));
    cudaMemset(out, 0, 2 * sizeof(int));
    sums<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
