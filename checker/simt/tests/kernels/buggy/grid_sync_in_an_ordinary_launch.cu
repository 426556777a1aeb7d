// SPDX-License-Identifier: MIT
// verdict: barrier grid_sync_in_an_ordinary_launch.cu:12
// The whole grid is to wait, but <<<…>>> does not promise that all blocks are there.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void neighbours(int* out) {
    const auto grid = cg::this_grid();
    const int i = static_cast<int>(grid.thread_rank()), n = static_cast<int>(grid.size());
    out[i] = i;
    grid.sync();
    out[n + i] = out[(i + 64) % n];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 512 * sizeof(int));
    cudaMemset(out, 0, 512 * sizeof(int));
    neighbours<<<4, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
