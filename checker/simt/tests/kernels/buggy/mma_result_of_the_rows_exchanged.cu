// SPDX-License-Identifier: MIT
// verdict: assertion mma_result_of_the_rows_exchanged.cu:13
// The lane stores its second accumulator eight rows below, where the third belongs.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    __shared__ float out[16][8];
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
    for (int i = 0; i < 4; i++) { out[lane / 4 + 8 * (i % 2)][2 * (lane % 4) + i / 2] = d.x[i]; }
    __syncwarp();
    for (int i = lane; i < 128; i += 32) { assert(out[i / 8][i % 8] == product_at(i / 8, i % 8, 8)); }
}

int main() { return run_block(kernel); }
