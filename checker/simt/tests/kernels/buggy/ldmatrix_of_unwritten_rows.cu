// SPDX-License-Identifier: MIT
// verdict: uninitialised shared ldmatrix_of_unwritten_rows.cu:12
// The tile has 8 rows, and what lies behind them is loaded as if it were zeros.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows[16][4];
    rows[lane / 4][lane % 4] = 0;
    __syncwarp();
    std::uint32_t two[2];
    ptx::ldmatrix(two, rows[lane % 16]);
}

int main() { return run_block(kernel); }
