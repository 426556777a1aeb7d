// SPDX-License-Identifier: MIT
// verdict: bad_launch too_many_blocks_for_grid_sync.cu:21
// The device has 2 blocks of 1024 threads at once; a cooperative launch of 3 cannot be.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void neighbours(int* out) {
    const auto grid = cg::this_grid();
    const int i = static_cast<int>(grid.thread_rank()), n = static_cast<int>(grid.size());
    out[i] = i;
    grid.sync();
    out[n + i] = out[(i + 1024) % n];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 6144 * sizeof(int));
    cudaMemset(out, 0, 6144 * sizeof(int));
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(neighbours, 3, 1024, arguments);
    cudaDeviceSynchronize();
    cudaFree(out);
}
