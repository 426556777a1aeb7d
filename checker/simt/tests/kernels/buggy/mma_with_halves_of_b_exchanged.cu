// SPDX-License-Identifier: MIT
// verdict: assertion mma_with_halves_of_b_exchanged.cu:12
// B's two registers are exchanged.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    const ptx::Tf32A a = tf32_a(lane);
    const ptx::Tf32B b{{tf32_b(lane).x[1], tf32_b(lane).x[0]}};
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, a, b);
    assert(is_product(d, lane, 8));
}

int main() { return run_block(kernel); }
