// SPDX-License-Identifier: MIT
// verdict: correct
// The accumulators of two neighbouring tiles are the A of the next product, in the same lanes.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Accumulators left{}, right{};
    ptx::mma_m16n8k8(left, tf32_a(lane), tf32_b(lane));
    ptx::mma_m16n8k8(right, tf32_a(lane), tf32_b(lane));
    const ptx::Bf16A a{{ptx::to_bf16x2(left.x[0], left.x[1]), ptx::to_bf16x2(left.x[2], left.x[3]),
                        ptx::to_bf16x2(right.x[0], right.x[1]), ptx::to_bf16x2(right.x[2], right.x[3])}};
    ptx::Accumulators d{};
    ptx::mma_m16n8k16(d, a, bf16_b(lane));
    for (int i = 0; i < 4; i++) {
        const int m = lane / 4 + 8 * (i / 2), n = 2 * (lane % 4) + i % 2;
        float sum = 0.0f;
        for (int k = 0; k < 16; k++) { sum += product_at(m, k % 8, 8) * b_at(k, n); }
        assert(d.x[i] == sum);
    }
}

int main() { return run_block(kernel); }
