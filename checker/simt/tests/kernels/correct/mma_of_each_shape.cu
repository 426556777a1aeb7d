// SPDX-License-Identifier: MIT
// verdict: correct
// The product by every shape and type that mma.sync has, from fragments that each lane computes.
#include "checker/simt/tests/matrices.h"

__global__ void kernel() {
    const int lane = static_cast<int>(threadIdx.x);
    const int g = lane / 4, q = lane % 4;
    ptx::Accumulators d{};
    ptx::mma_m16n8k8(d, tf32_a(lane), tf32_b(lane));
    assert(is_product(d, lane, 8));

    d = {};
    const std::uint32_t a4[] = {ptx::to_tf32(a_at(g, q)), ptx::to_tf32(a_at(g + 8, q))};
    ptx::mma_m16n8k4(d, {{a4[0], a4[1]}}, {{ptx::to_tf32(b_at(q, g))}});
    assert(is_product(d, lane, 4));

    d = {};
    ptx::mma_m16n8k16(d, bf16_a(lane), bf16_b(lane));
    assert(is_product(d, lane, 16));

    d = {};
    const ptx::Bf16A a = bf16_a(lane);
    ptx::mma_m16n8k8(d, ptx::Bf16A8{{a.x[0], a.x[1]}}, ptx::Bf16B8{{bf16_b(lane).x[0]}});
    assert(is_product(d, lane, 8));

    ptx::HalfA half_a;
    ptx::HalfB half_b;
    for (int i = 0; i < 4; i++) {
        const int m = g + 8 * (i % 2), k = 2 * q + 8 * (i / 2);
        half_a.x[i] = half2_bits(a_at(m, k), a_at(m, k + 1));
    }
    for (int i = 0; i < 2; i++) { half_b.x[i] = half2_bits(b_at(2 * q + 8 * i, g), b_at(2 * q + 8 * i + 1, g)); }
    d = {};
    ptx::mma_m16n8k16(d, half_a, half_b);
    assert(is_product(d, lane, 16));

    d = {};
    ptx::mma_m16n8k8(d, ptx::HalfA8{{half_a.x[0], half_a.x[1]}}, ptx::HalfB8{{half_b.x[0]}});
    assert(is_product(d, lane, 8));

    ptx::HalfAccumulators halves{};
    ptx::mma_m16n8k16(halves, half_a, half_b);
    for (int i = 0; i < 2; i++) {
        const int m = g + 8 * i;
        assert(halves.x[i] == half2_bits(product_at(m, 2 * q, 16), product_at(m, 2 * q + 1, 16)));
    }
    halves = {};
    ptx::mma_m16n8k8(halves, ptx::HalfA8{{half_a.x[0], half_a.x[1]}}, ptx::HalfB8{{half_b.x[0]}});
    for (int i = 0; i < 2; i++) {
        const int m = g + 8 * i;
        assert(halves.x[i] == half2_bits(product_at(m, 2 * q, 8), product_at(m, 2 * q + 1, 8)));
    }
}

int main() { return run_block(kernel); }
