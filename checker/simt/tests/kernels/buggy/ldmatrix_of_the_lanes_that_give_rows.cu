// SPDX-License-Identifier: MIT
// verdict: collective ldmatrix_of_the_lanes_that_give_rows.cu:13
// Only the eight lanes whose addresses count execute it.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows[8][4];
    rows[lane / 4][lane % 4] = 0;
    __syncwarp();
    std::uint32_t one[1] = {};
    if (lane < 8) {
        ptx::ldmatrix(one, rows[lane]);
    }
    assert(one[0] == 0);
}

int main() { return run_block(kernel); }
