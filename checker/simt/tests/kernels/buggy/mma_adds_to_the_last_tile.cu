// SPDX-License-Identifier: MIT
// verdict: assertion mma_adds_to_the_last_tile.cu:11
// The accumulators of the tile before are not cleared.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Accumulators d{};
    for (int tile = 0; tile < 2; tile++) {
        ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
        assert(is_product(d, lane, 8) || lane % 4 != 0);
    }
}

int main() { return run_block(kernel); }
