// SPDX-License-Identifier: MIT
// verdict: assertion mma_with_registers_of_a_exchanged.cu:13
// A's second and third registers are exchanged: rows 8 and on, and k 4 and on.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Tf32A a;
    for (int i = 0; i < 4; i++) { a.x[i] = ptx::to_tf32(a_at(lane / 4 + 8 * (i / 2), lane % 4 + 4 * (i % 2))); }
    const ptx::Tf32B b = tf32_b(lane);
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, a, b);
    assert(is_product(d, lane, 8));
}

int main() { return run_block(kernel); }
