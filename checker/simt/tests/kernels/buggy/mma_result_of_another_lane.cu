// SPDX-License-Identifier: MIT
// verdict: assertion mma_result_of_another_lane.cu:14
// A sum of a row takes the accumulators of the lanes 8, 16 and 24 further: they have other rows.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
    float sum = d.x[0] + d.x[1], expected = 0.0f;
    sum += __shfl_xor_sync(0xffffffffU, sum, 8);
    sum += __shfl_xor_sync(0xffffffffU, sum, 16);
    for (int n = 0; n < 8; n++) { expected += product_at(lane / 4, n, 8); }
    assert(sum == expected);
}

int main() { return run_block(kernel); }
