// SPDX-License-Identifier: MIT
// verdict: assertion mma_of_halves_overflows.cu:12
// Sums of 70,000 do not fit accumulators of fp16.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    const std::uint32_t pair = half2_bits(lane % 4 == 0 ? 350.0f : 0.0f, 0.0f), factor = half2_bits(200.0f, 200.0f);
    ptx::HalfAccumulators d{};
    ptx::mma_m16n8k8(d, ptx::HalfA8{{pair, pair}}, ptx::HalfB8{{factor}});
    const __half2 sums = *reinterpret_cast<const __half2*>(&d.x[0]);
    assert(__half2float(__low2half(sums)) == 70000.0f);
}

int main() { return run_block(kernel); }
