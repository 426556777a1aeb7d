// SPDX-License-Identifier: MIT
// verdict: collective scan_in_a_ragged_loop.cu:13
// The threads of a warp do not all come to the last round of a scan by a group that names them all.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void places(int* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int before = 0;
    for (int i = static_cast<int>(threadIdx.x); i < 40; i += 32) {
        before += cg::exclusive_scan(warp, i % 2);
    }
    warp.sync();
    out[threadIdx.x] = before;
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    places<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
