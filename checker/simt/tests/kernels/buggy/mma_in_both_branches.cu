// SPDX-License-Identifier: MIT
// verdict: collective mma_in_both_branches.cu:10
// Each half of the warp has a product of its own: two instructions, and neither has all lanes.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Accumulators d{}, other{};
    if (lane % 2 == 0) {
        ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
    } else {
        ptx::mma_m16n8k8(other, tf32_a(lane), tf32_b(lane));
    }
    assert(d.x[0] + other.x[0] < 1000.0f);
}

int main() { return run_block(kernel); }
