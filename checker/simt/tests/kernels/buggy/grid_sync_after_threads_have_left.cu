// SPDX-License-Identifier: MIT
// verdict: barrier grid_sync_after_threads_have_left.cu:15
// The threads beyond the data leave the last block before all are to wait.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void steps(int* out) {
    const auto grid = cg::this_grid();
    const int i = static_cast<int>(grid.thread_rank());
    if (i >= 200) {
        return;
    }
    out[i] = i;
    grid.sync();
    out[200 + i] = out[199 - i];
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 400 * sizeof(int));
    cudaMemset(out, 0, 400 * sizeof(int));
    void* arguments[] = {&out};
    cudaLaunchCooperativeKernel(steps, 4, 64, arguments);
    cudaDeviceSynchronize();
    cudaFree(out);
}
