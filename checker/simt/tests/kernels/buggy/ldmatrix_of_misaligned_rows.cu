// SPDX-License-Identifier: MIT
// verdict: misaligned shared ldmatrix_of_misaligned_rows.cu:12
// The second row of 9 words does not begin at a multiple of 16 bytes.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows[16][9];
    fill_a(rows, lane, 32);
    __syncwarp();
    std::uint32_t four[4];
    ptx::ldmatrix(four, &rows[lane % 16][lane / 16 * 4]);
}

int main() { return run_block(kernel); }
