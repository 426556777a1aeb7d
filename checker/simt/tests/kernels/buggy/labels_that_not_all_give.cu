// SPDX-License-Identifier: MIT
// verdict: collective labels_that_not_all_give.cu:14
// Threads without an element do not come to the partition of a tile that names them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void count(int* bins, const int* labels, int n) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) {
        const int label = labels[i];
        const auto same = cg::labeled_partition(tile, label);
        if (same.thread_rank() == 0) {
            atomicAdd(&bins[label], static_cast<int>(same.num_threads()));
        }
    }
    tile.sync();
}

int main() {
    constexpr int n = 20;
    int *bins = nullptr, *labels = nullptr;
    cudaMalloc(&bins, 4 * sizeof(int));
    cudaMalloc(&labels, n * sizeof(int));
    cudaMemset(bins, 0, 4 * sizeof(int));
    cudaMemset(labels, 0, n * sizeof(int));
    count<<<1, 32>>>(bins, labels, n);
    cudaDeviceSynchronize();
    cudaFree(bins);
    cudaFree(labels);
}
