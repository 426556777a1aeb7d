// SPDX-License-Identifier: MIT
// verdict: assertion mma_of_floats_that_are_not_rounded.cu:12
// 1 + 3/4096 is nearer to 1 + 1/1024 than to 1, which TF32 gets without a rounding.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    const float factor = 1.0f + 3.0f / 4096;
    const std::uint32_t raw = __float_as_uint(factor), one = ptx::to_tf32(lane % 4 == 0 ? 1.0f : 0.0f);
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, {{raw, raw, raw, raw}}, {{one, 0}});
    assert(d.x[0] == __uint_as_float(ptx::to_tf32(factor)));
}

int main() { return run_block(kernel); }
