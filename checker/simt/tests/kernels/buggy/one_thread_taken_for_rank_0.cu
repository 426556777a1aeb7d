// SPDX-License-Identifier: MIT
// verdict: race shared one_thread_taken_for_rank_0.cu:17 one_thread_taken_for_rank_0.cu:19
// invoke_one() lets some thread call the function: that it is the one of rank 0, nobody says.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void hand_on(int* out, const int* inp) {
    __shared__ int first[2];
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned int w = warp.meta_group_rank();
    if (warp.thread_rank() == 31) {
        first[w] = 0;
    }
    __syncthreads();
    if (warp.thread_rank() == 0) {
        first[w] = inp[threadIdx.x];
    }
    cg::invoke_one(warp, [&] { out[w] = first[w]; });
}

int main() {
    int *out = nullptr, *inp = nullptr;
    cudaMalloc(&out, 2 * sizeof(int));
    cudaMalloc(&inp, 64 * sizeof(int));
    cudaMemset(inp, 0, 64 * sizeof(int));
    hand_on<<<1, 64>>>(out, inp);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(inp);
}
