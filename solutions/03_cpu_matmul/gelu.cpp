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
    // >>> solution
    //~ // TODO: cut x (stdx::clamp); shifted = x * kPerLn2 + kRound; n = shifted - kRound; r; the polynomial, from its
    //~ // highest term down; last add n to the exponent bits, which begin at bit kMantissaBits. The lowest bits of
    //~ // shifted are n.
    //~ return x;
    x = stdx::clamp(x, V(-87.0f), V(87.0f));
    const V shifted = x * kPerLn2 + kRound;
    const V n = shifted - kRound;
    const V r = (x - n * kLn2High) - n * kLn2Low;
    V p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 1.0f / 2;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    return std::bit_cast<V>(std::bit_cast<Bits>(p) + (std::bit_cast<Bits>(shifted) << kMantissaBits));
    // <<< solution
}

template <class V>
void gelu_of(float* out, const float* inp) {
    constexpr float kSqrt2OverPi = 0.797884561f;
    // >>> solution
    //~ // TODO: V x(inp, stdx::element_aligned) loads x, out_of_x.copy_to(out, stdx::element_aligned) stores.
    const V x(inp, stdx::element_aligned);
    const V u = kSqrt2OverPi * (x + 0.044715f * x * x * x);
    const V out_of_x = x / (1.0f + fast_exp(-2.0f * u));
    out_of_x.copy_to(out, stdx::element_aligned);
    // <<< solution
}

}  // namespace

void gelu(float* out,        // (N)
          const float* inp,  // (N)
          int N, Context&) {
    constexpr int kLanes = static_cast<int>(Vector::size());
    // >>> solution
    //~ // TODO: gelu_of<Vector> while kLanes elements are left, then gelu_of<Single>.
    int i = 0;
    for (; i + kLanes <= N; i += kLanes) { gelu_of<Vector>(out + i, inp + i); }
    for (; i < N; i++) { gelu_of<Single>(out + i, inp + i); }
    // <<< solution
}
