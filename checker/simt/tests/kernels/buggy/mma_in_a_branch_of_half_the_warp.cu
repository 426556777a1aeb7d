// SPDX-License-Identifier: MIT
// verdict: collective mma_in_a_branch_of_half_the_warp.cu:10
// The other half waits at the barrier behind it.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Accumulators d{};
    if (lane < 16) {
        ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
    }
    __syncthreads();
}

int main() { return run_block(kernel, 64); }
