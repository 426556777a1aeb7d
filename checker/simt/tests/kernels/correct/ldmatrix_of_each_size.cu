// SPDX-License-Identifier: MIT
// verdict: correct
// ldmatrix gives the fragments of A and, of B by columns or transposed, those of B. The lanes beyond the last row give no
// address.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows_of_a[16][12], columns_of_b[8][12], rows_of_b[16][4];
    fill_a(rows_of_a, lane, 32);
    fill_b(columns_of_b, lane, 32);
    fill_b_by_k(rows_of_b, lane, 32);
    __syncwarp();
    ptx::Bf16A a;
    ptx::Bf16B b, transposed;
    ptx::ldmatrix(a.x, &rows_of_a[lane % 16][lane / 16 * 4]);
    ptx::ldmatrix(b.x, lane < 16 ? &columns_of_b[lane % 8][lane / 8 * 4] : nullptr);
    ptx::ldmatrix_trans(transposed.x, &rows_of_b[lane % 16][0]);
    ptx::Accumulators d{};
    ptx::mma_m16n8k16(d, a, b);
    assert(is_product(d, lane, 16));
    d = {};
    ptx::mma_m16n8k16(d, a, transposed);
    assert(is_product(d, lane, 16));

    std::uint32_t one[1], four[4];
    ptx::ldmatrix(one, lane < 8 ? &columns_of_b[lane][4] : nullptr);
    assert(one[0] == b.x[1]);
    ptx::ldmatrix_trans(one, &rows_of_b[8 + lane % 8][0]);
    assert(one[0] == b.x[1]);
    ptx::ldmatrix_trans(four, &rows_of_b[lane % 16][0]);
    assert(four[0] == b.x[0] && four[1] == b.x[1] && four[2] == b.x[0] && four[3] == b.x[1]);
}

int main() { return run_block(kernel); }
