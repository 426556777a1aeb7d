// SPDX-License-Identifier: MIT
// verdict: assertion ldmatrix_without_trans.cu:19
// B lies row by row (k, n), so its fragments need .trans.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ alignas(16) std::uint32_t rows_of_a[16][12], columns_of_b[8][12], rows_of_b[16][4];
    fill_a(rows_of_a, lane, 32);
    fill_b(columns_of_b, lane, 32);
    fill_b_by_k(rows_of_b, lane, 32);
    __syncwarp();
    ptx::Bf16A a;
    ptx::Bf16B b;
    ptx::ldmatrix(a.x, &rows_of_a[lane % 16][lane / 16 * 4]);
    ptx::ldmatrix(b.x, &rows_of_b[lane % 16][0]);
    ptx::Accumulators d{};
    ptx::mma_m16n8k16(d, a, b);
    assert(is_product(d, lane, 16));
}

int main() { return run_block(kernel); }
