// SPDX-License-Identifier: MIT
// verdict: bad_launch too_many_blocks_for_grid_sync.cu:26
// As many blocks as the device has at once wait for each other; one more cannot.
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
    int blocks = 0, multiprocessors = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, neighbours, 1024, 0);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    blocks *= multiprocessors;
    int* out = nullptr;
    cudaMalloc(&out, sizeof(int) * 2 * 1024 * static_cast<std::size_t>(blocks + 1));
    void* arguments[] = {&out};
    const cudaError_t fits = cudaLaunchCooperativeKernel(neighbours, blocks, 1024, arguments);
    cudaDeviceSynchronize();
    const cudaError_t refused = cudaLaunchCooperativeKernel(neighbours, blocks + 1, 1024, arguments);
    cudaDeviceSynchronize();
    if (fits == cudaSuccess && refused == cudaErrorCooperativeLaunchTooLarge) {
        cudaFree(out);  // and leaks otherwise
    }
}
