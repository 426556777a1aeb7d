// SPDX-License-Identifier: MIT
// verdict: collective rank_beyond_the_group.cu:11
// Lane 31 is no rank of a group of 16: it is the fifteenth.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void last(int* out) {
    if (threadIdx.x % 2 == 1) {
        const auto odd = cg::coalesced_threads();
        out[threadIdx.x] = odd.shfl(static_cast<int>(threadIdx.x), 31);
    }
}

int main() {
    int* out = nullptr;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    last<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
