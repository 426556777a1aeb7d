// SPDX-License-Identifier: MIT
// verdict: assertion mma_with_high_before_low.cu:13
// cvt.rn.bf16x2.f32 takes the upper half first, and this call hands it the lower one.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    ptx::Bf16A a = bf16_a(lane);
    for (std::uint32_t& pair : a.x) { pair = pair << 16 | pair >> 16; }
    const ptx::Bf16B b = bf16_b(lane);
    ptx::Accumulators d{};
    ptx::mma_m16n8k16(d, a, b);
    assert(is_product(d, lane, 16));
}

int main() { return run_block(kernel); }
