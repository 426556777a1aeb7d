// SPDX-License-Identifier: MIT
//
// Floating-point numbers of 16 bits: their values, and rounding to them. A double can hold each of their values, so a
// result that is computed in double and rounded once is as exact as CUDA promises.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <cstdint>
#include <limits>

#include "bits_of.h"
#include "judged.h"

namespace simt {

enum class Rounding { nearest, zero, down, up };  // nearest: ties go to the even one

template <int kExponentBits, int kFractionBits>
struct ShortFormat {
    static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
    static constexpr std::uint16_t kInfinity = ((1 << kExponentBits) - 1) << kFractionBits;
    static constexpr std::uint16_t kNan = 0x7fff;  // the one that CUDA's arithmetic gives
    static constexpr std::uint16_t kSign = 0x8000;

    static constexpr bool is_nan(std::uint16_t bits) { return (bits & ~kSign) > kInfinity; }

    static constexpr float value(std::uint16_t bits) {
        const std::uint32_t sign = std::uint32_t{bits & kSign} << 16;
        const std::uint32_t magnitude = bits & ~kSign;
        if (magnitude > kInfinity) {
            return simt::bit_cast<float>(0x7fffffffU);
        }
        if (magnitude == kInfinity) {
            return simt::bit_cast<float>(sign | 0x7f800000U);
        }
        if (magnitude >> kFractionBits == 0) {  // subnormal: a multiple of the smallest number there is
            constexpr double kSmallest = smallest();
            return simt::bit_cast<float>(simt::bit_cast<std::uint32_t>(static_cast<float>(magnitude * kSmallest)) |
                                         sign);
        }
        return simt::bit_cast<float>(sign | ((magnitude << (23 - kFractionBits)) + ((127U - kBias) << 23)));
    }

    static constexpr std::uint16_t round(double number, Rounding mode = Rounding::nearest) {
        const auto bits = simt::bit_cast<std::uint64_t>(number);
        const bool negative = bits >> 63 != 0;
        const auto sign = static_cast<std::uint16_t>(negative ? kSign : 0);
        const int field = static_cast<int>(bits >> 52 & 0x7ff);
        const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
        if (field == 0x7ff) {
            return fraction != 0 ? kNan : static_cast<std::uint16_t>(sign | kInfinity);
        }
        const int exponent = field == 0 ? -1022 : field - 1023;
        const std::uint64_t significand = fraction | (field == 0 ? 0 : std::uint64_t{1} << 52);
        const int below = 1 - kBias - exponent;  // binary places below the smallest normal number
        const int dropped = 52 - kFractionBits + (below > 0 ? below : 0);
        const int shift = dropped < 63 ? dropped : 63;
        const std::uint64_t kept = significand >> shift;
        const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
        const std::uint64_t half = std::uint64_t{1} << (shift - 1);
        const bool away = mode == Rounding::nearest ? rest > half || (rest == half && (kept & 1U) != 0)
                          : mode == Rounding::up    ? !negative && rest != 0
                          : mode == Rounding::down  ? negative && rest != 0
                                                    : false;
        // A carry out of the fraction is the next exponent, as it should be.
        const std::int64_t base = below > 0 ? 0 : (std::int64_t{exponent} + kBias - 1) << kFractionBits;
        const std::int64_t magnitude = base + static_cast<std::int64_t>(kept) + (away ? 1 : 0);
        if (magnitude < kInfinity) {
            return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(magnitude));
        }
        const bool to_infinity = mode == Rounding::nearest || mode == (negative ? Rounding::down : Rounding::up);
        return static_cast<std::uint16_t>(sign | (to_infinity ? kInfinity : kInfinity - 1));
    }

  private:
    static constexpr double smallest() {
        double power = 1;
        for (int i = 0; i < kBias - 1 + kFractionBits; i++) { power /= 2; }
        return power;
    }
};

using HalfFormat = ShortFormat<5, 10>;
using BfloatFormat = ShortFormat<8, 7>;

// a * b + c, where a * b is exact. If the sum loses something in double, its last bit shows it (round to odd), so that
// rounding to 16 bits gives what it would give from the exact value.
inline double exact_enough_fma(double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    const double taken = sum - product;
    const double error = (product - (sum - taken)) + (c - taken);
    const auto bits = simt::bit_cast<std::uint64_t>(sum);
    if (!std::isfinite(sum) || error == 0 || (bits & 1U) != 0) {
        return sum;
    }
    return std::nextafter(
        sum, error > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

// Into [0, 1]; NaN becomes 0.
inline double saturated(double a) {
    return a > 0 ? (a < 1 ? a : 1) : 0;
}

// An integer as a double that rounds to 16 bits as the integer does: again by its last bit.
template <class Integer>
constexpr double exact_enough(Integer value) {
    const bool negative = value < 0;
    std::uint64_t magnitude = static_cast<std::uint64_t>(value);
    magnitude = negative ? -magnitude : magnitude;
    const bool lost = magnitude >> 53 != 0 && (magnitude & 0x7ffU) != 0;
    const auto rounded = static_cast<double>(lost ? (magnitude & ~std::uint64_t{0x7ff}) | 0x800U : magnitude);
    return negative ? -rounded : rounded;
}

// Converts as CUDA does: what does not fit becomes the nearest number that does; NaN becomes 0, or for 64 bits the
// number of which only the highest bit is set.
template <class Integer>
inline Integer to_integer(float value, Rounding mode) {
    using Limits = std::numeric_limits<Integer>;
    if (std::isnan(value)) {
        return sizeof(Integer) == 8 ? static_cast<Integer>(std::uint64_t{1} << 63) : Integer{0};
    }
    const double whole = mode == Rounding::nearest ? std::nearbyint(double{value})
                         : mode == Rounding::zero  ? std::trunc(double{value})
                         : mode == Rounding::down  ? std::floor(double{value})
                                                   : std::ceil(double{value});
    if (whole >= static_cast<double>(Limits::max())) {
        return Limits::max();
    }
    if (whole <= static_cast<double>(Limits::min())) {
        return Limits::min();
    }
    return static_cast<Integer>(whole);
}

// Atomic additions of one number, and of a pair of which each half is atomic by itself. Defined in the runtime.
template <class Format>
std::uint16_t atomic_add(std::uint16_t* address, std::uint16_t addend, bool judged = SIMT_JUDGED);
template <class Format>
std::uint32_t atomic_add_pair(std::uint32_t* address, std::uint32_t addend, bool judged = SIMT_JUDGED);

}  // namespace simt
