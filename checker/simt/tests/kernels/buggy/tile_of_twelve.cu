// SPDX-License-Identifier: MIT
// verdict: collective tile_of_twelve.cu:9
// A tile has a power of two of threads.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void ranks(int* out) {
    const cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 12);
    out[threadIdx.x] = static_cast<int>(tile.thread_rank());
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 48 * sizeof(int));
    cudaMemset(out, 0, 48 * sizeof(int));
    ranks<<<1, 48>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
