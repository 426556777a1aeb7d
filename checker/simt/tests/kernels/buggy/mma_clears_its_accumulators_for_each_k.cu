// SPDX-License-Identifier: MIT
// verdict: assertion mma_clears_its_accumulators_for_each_k.cu:15
// The accumulators are cleared in the loop over k: only the last part of it counts.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    const int g = lane / 4, q = lane % 4;
    ptx::Accumulators d;
    for (int k = 0; k < 8; k += 4) {
        d = {};
        const ptx::Tf32A4 a{{ptx::to_tf32(a_at(g, k + q)), ptx::to_tf32(a_at(g + 8, k + q))}};
        ptx::mma_m16n8k4(d, a, ptx::Tf32B4{{ptx::to_tf32(b_at(k + q, g))}});
    }
    assert(is_product(d, lane, 8));
}

int main() { return run_block(kernel); }
