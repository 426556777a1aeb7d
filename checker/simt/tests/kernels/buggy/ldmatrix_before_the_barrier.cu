// SPDX-License-Identifier: MIT
// verdict: race shared ldmatrix_before_the_barrier.cu:11 ldmatrix_before_the_barrier.cu:13
// Two warps fill the tile, and none waits for the other.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows[16][4];
    rows[lane / 4][lane % 4] = 0;
    __syncthreads();
    rows[lane / 4][lane % 4] = 1;
    std::uint32_t two[2];
    ptx::ldmatrix(two, rows[lane % 16]);
}

int main() { return run_block(kernel, 64); }
