// SPDX-License-Identifier: MIT
// verdict: race shared ldmatrix_of_a_tile_that_is_overwritten.cu:10 ldmatrix_of_a_tile_that_is_overwritten.cu:13
// The next tile is written while another warp may still load this one.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows[16][4];
    for (std::uint32_t tile = 0; tile < 2; tile++) {
        rows[lane / 4][lane % 4] = tile;
        __syncthreads();
        std::uint32_t two[2];
        ptx::ldmatrix(two, rows[lane % 16]);
    }
}

int main() { return run_block(kernel, 64); }
