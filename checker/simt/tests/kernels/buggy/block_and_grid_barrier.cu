// SPDX-License-Identifier: MIT
// verdict: barrier block_and_grid_barrier.cu:14
// One half of a block waits for the block, the other for the grid.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void halves(int* out) {
    const auto grid = cg::this_grid();
    out[grid.thread_rank()] = 1;
    if (threadIdx.x < 32) {
        grid.sync();
    } else {
        cg::this_thread_block().sync();
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(out, 0, 128 * sizeof(int));
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(halves, 2, 64, arguments);
    cudaDeviceSynchronize();
    cudaFree(out);
}
