// SPDX-License-Identifier: MIT
// verdict: collective reduce_beside_a_scan.cu:15
// Half of a tile adds up, the other half scans, and each names the whole tile.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void halves(int* out) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const int lane = static_cast<int>(tile.thread_rank());
    int value = lane;
    if (lane < 16) {
        value = cg::reduce(tile, value, [](int a, int b) { return a + b; });
    } else {
        value = cg::inclusive_scan(tile, value);
    }
    out[lane] = value;
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    halves<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
