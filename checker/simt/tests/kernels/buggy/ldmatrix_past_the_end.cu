// SPDX-License-Identifier: MIT
// verdict: out_of_bounds shared ldmatrix_past_the_end.cu:12
// The rows are counted from 1 on, so the last one lies behind the tile.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows[16][4];
    for (int i = lane; i < 64; i += 32) { rows[i / 4][i % 4] = 0; }
    __syncwarp();
    std::uint32_t two[2];
    ptx::ldmatrix(two, rows[0] + 4 * (lane % 16 + 1));
}

int main() { return run_block(kernel); }
