// SPDX-License-Identifier: MIT
// verdict: assertion mma_with_a_of_16_bits_for_tf32.cu:13
// The fragment of A has the columns that an A of 16 bits has, 2 q and the next.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Tf32A a;
    for (int i = 0; i < 4; i++) { a.x[i] = ptx::to_tf32(a_at(lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2)); }
    const ptx::Tf32B b = tf32_b(lane);
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, a, b);
    assert(is_product(d, lane, 8));
}

int main() { return run_block(kernel); }
