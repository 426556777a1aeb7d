// SPDX-License-Identifier: MIT
//
// out[i] = 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3) and x = inp[i]
//
// 0.5 (1 + tanh(u)) is 1 / (1 + exp(-2 u)): one exponential, and no tanh. The exponential is arithmetic only, so that
// a vector of elements goes through it at once; the elements after the last whole vector go one by one.
#include <bit>
#include <cstdint>
#include <experimental/simd>

#include "lessons/gpt2/ops.h"

namespace {

namespace stdx = std::experimental;

using Vector = stdx::native_simd<float>;                   // one register of floats
using Single = stdx::simd<float, stdx::simd_abi::scalar>;  // one float, with a Vector's operations

// exp(x), with x cut to [-87, 87] first: beyond, exp(x) overflows a float, or 1 + exp(x) is 1 already.
// With n the integer nearest to x / ln 2 and r = x - n ln 2, |r| <= ln(2) / 2, it is 2^n exp(r). exp(r) is its Taylor
// polynomial to r^7, whose next term is below 2^-27; adding n to the exponent bits of a float multiplies it by 2^n.
template <class V>
V fast_exp(V x) {
    using Bits = stdx::rebind_simd_t<std::uint32_t, V>;  // the same bits as integers: std::bit_cast<Bits>(x)
    constexpr float kPerLn2 = 1.44269504f;
    constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;  // ln 2 in two: n * kLn2High is exact
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: added, it leaves the nearest integer in the lowest bits
    constexpr int kMantissaBits = 23;
    // TODO: cut x (stdx::clamp); shifted = x * kPerLn2 + kRound; n = shifted - kRound; r; the polynomial, from its
    // highest term down; last add n to the exponent bits, which begin at bit kMantissaBits. The lowest bits of
    // shifted are n.
    return x;
}

template <class V>
void gelu_of(float* out, const float* inp) {
    constexpr float kSqrt2OverPi = 0.797884561f;
    // TODO: V x(inp, stdx::element_aligned) loads x, out_of_x.copy_to(out, stdx::element_aligned) stores.
}

}  // namespace

void gelu(float* out,        // (N)
          const float* inp,  // (N)
          int N, Context&) {
    constexpr int kLanes = static_cast<int>(Vector::size());
    // TODO: gelu_of<Vector> while kLanes elements are left, then gelu_of<Single>.
}
