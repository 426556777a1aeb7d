// SPDX-License-Identifier: MIT
// verdict: assertion mma_with_a_and_b_exchanged.cu:19
// The lanes load A from the tile of B, and B from that of A.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows_of_a[16][12], columns_of_b[16][12];
    fill_a(rows_of_a, lane, 32);
    fill_b(columns_of_b, lane, 32);
    for (int i = lane; i < 64; i += 32) { columns_of_b[8 + i / 8][i % 8] = 0; }
    __syncwarp();
    ptx::Bf16A a;
    ptx::Bf16B b;
    ptx::ldmatrix(a.x, &columns_of_b[lane % 16][lane / 16 * 4]);
    ptx::ldmatrix(b.x, &rows_of_a[lane % 8][lane / 8 % 2 * 4]);
    ptx::Accumulators d{};
    ptx::mma_m16n8k16(d, a, b);
    assert(is_product(d, lane, 16));
}

int main() { return run_block(kernel); }
