// SPDX-License-Identifier: MIT
// verdict: correct
// Both fragments take k in the order 0, 2, 4, 6, 1, 3, 5, 7: the sums are the same.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    const int g = lane / 4, q = lane % 4;
    ptx::Tf32A a;
    ptx::Tf32B b;
    for (int i = 0; i < 4; i++) { a.x[i] = ptx::to_tf32(a_at(g + 8 * (i % 2), 2 * q + i / 2)); }
    for (int i = 0; i < 2; i++) { b.x[i] = ptx::to_tf32(b_at(2 * q + i, g)); }
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, a, b);
    assert(is_product(d, lane, 8));
}

int main() { return run_block(kernel); }
