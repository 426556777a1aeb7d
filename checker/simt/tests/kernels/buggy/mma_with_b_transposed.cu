// SPDX-License-Identifier: MIT
// verdict: assertion mma_with_b_transposed.cu:13
// The lane takes row lane / 4 of B in place of its column.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    const ptx::Tf32A a = tf32_a(lane);
    ptx::Tf32B b;
    for (int i = 0; i < 2; i++) { b.x[i] = ptx::to_tf32(b_at(lane / 4, lane % 4 + 4 * i)); }
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, a, b);
    assert(is_product(d, lane, 8));
}

int main() { return run_block(kernel); }
