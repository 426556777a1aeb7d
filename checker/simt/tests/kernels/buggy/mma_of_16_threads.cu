// SPDX-License-Identifier: MIT
// verdict: collective mma_of_16_threads.cu:9
// The block has half a warp.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
}

int main() { return run_block(kernel, 16); }
