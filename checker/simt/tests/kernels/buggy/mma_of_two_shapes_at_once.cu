// SPDX-License-Identifier: MIT
// verdict: collective mma_of_two_shapes_at_once.cu:10
// Half of the warp multiplies with 8 of k, half with 4.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Accumulators d{};
    if (lane < 16) {
        ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
    } else {
        ptx::mma_m16n8k4(d, {{0, 0}}, {{0}});
    }
}

int main() { return run_block(kernel); }
