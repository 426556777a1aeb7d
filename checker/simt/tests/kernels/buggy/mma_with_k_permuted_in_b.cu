// SPDX-License-Identifier: MIT
// verdict: assertion mma_with_k_permuted_in_b.cu:13
// Only B takes k in another order.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    const ptx::Tf32A a = tf32_a(lane);
    ptx::Tf32B b;
    for (int i = 0; i < 2; i++) { b.x[i] = ptx::to_tf32(b_at(2 * (lane % 4) + i, lane / 4)); }
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, a, b);
    assert(is_product(d, lane, 8));
}

int main() { return run_block(kernel); }
