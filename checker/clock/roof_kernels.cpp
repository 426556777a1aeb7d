// SPDX-License-Identifier: MIT
#include "checker/clock/roof_kernels.h"

#include <experimental/simd>

namespace checker {
namespace {

using Vector = std::experimental::native_simd<float>;

// A CPU starts at most 2 to 4 FMAs a cycle and takes 4 or 5 cycles for each: 12 to 20 chains keep it busy.
// 16 registers with AVX2 must hold them and the two operands.
constexpr int kChains = Vector::size() == 16 ? 24 : 12;

}  // namespace

int vector_lanes() {
    return static_cast<int>(Vector::size());
}

double run_fma(long rounds, float& sink) {
    volatile float factor_source = 0.999F, term_source = 0.001F;  // unknown to the compiler; every chain tends to 1
    const Vector factor = factor_source, term = term_source;
    Vector chain[kChains];
#pragma GCC unroll 24
    for (int i = 0; i < kChains; i++) { chain[i] = static_cast<float>(i); }
    for (long round = 0; round < rounds; round++) {
#pragma GCC unroll 24
        for (int i = 0; i < kChains; i++) { chain[i] = chain[i] * factor + term; }
    }
    Vector sum = 0.0F;
#pragma GCC unroll 24
    for (int i = 0; i < kChains; i++) { sum += chain[i]; }
    sink = std::experimental::reduce(sum);
    return 2.0 * kChains * static_cast<double>(Vector::size()) * static_cast<double>(rounds);
}

}  // namespace checker
