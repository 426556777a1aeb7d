// SPDX-License-Identifier: MIT
// verdict: collective mma_after_half_the_warp_has_left.cu:12
// Lanes without a row of their own leave before the product.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane >= 16) {
        return;
    }
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
}

int main() { return run_block(kernel); }
