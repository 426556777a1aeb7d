// SPDX-License-Identifier: MIT
// verdict: barrier grid_sync_after_a_block_has_left.cu:14
// A block without work leaves, and the others wait for it.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int* out) {
    const auto grid = cg::this_grid();
    if (blockIdx.x == 3) {
        return;
    }
    out[grid.thread_rank()] = 1;
    grid.sync();
    out[grid.thread_rank()] += out[(grid.thread_rank() + 64) % 192];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMemset(out, 0, 256 * sizeof(int));
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(steps, 4, 64, arguments);
    cudaDeviceSynchronize();
    cudaFree(out);
}
