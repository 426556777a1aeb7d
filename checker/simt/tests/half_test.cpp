// SPDX-License-Identifier: MIT
//
// __half, __nv_bfloat16 and the numbers of 8 bits against their definition: all patterns, and every border between two
// neighbours.
#include "checker/simt/include/cuda_bf16.h"
#include "checker/simt/include/cuda_fp16.h"
#include "checker/simt/include/cuda_fp8.h"
// CUDA's declaration words must come first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using simt::Rounding;

struct Half {
    using Type = __half;
    using Pair = __half2;
    static constexpr int kFractionBits = 10, kBias = 15;
    static std::uint16_t bits(Type x) { return __half_as_ushort(x); }
    static Type from(unsigned bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }
    static Type rn(float x) { return __float2half_rn(x); }
    static Type rz(float x) { return __float2half_rz(x); }
    static Type rd(float x) { return __float2half_rd(x); }
    static Type ru(float x) { return __float2half_ru(x); }
    static Type from_double(double x) { return __double2half(x); }
    static Type from_ll(long long x) { return __ll2half_rn(x); }
    static Type from_ll_rz(long long x) { return __ll2half_rz(x); }
    static float value(Type x) { return __half2float(x); }
    static int to_int_rn(Type x) { return __half2int_rn(x); }
    static int to_int_rz(Type x) { return __half2int_rz(x); }
    static int to_int_rd(Type x) { return __half2int_rd(x); }
    static int to_int_ru(Type x) { return __half2int_ru(x); }
    static unsigned to_uint_rz(Type x) { return __half2uint_rz(x); }
    static long long to_ll_rz(Type x) { return __half2ll_rz(x); }
    static short to_short_rz(Type x) { return __half2short_rz(x); }
};

struct Bfloat {
    using Type = __nv_bfloat16;
    using Pair = __nv_bfloat162;
    static constexpr int kFractionBits = 7, kBias = 127;
    static std::uint16_t bits(Type x) { return __bfloat16_as_ushort(x); }
    static Type from(unsigned bits) { return __ushort_as_bfloat16(static_cast<unsigned short>(bits)); }
    static Type rn(float x) { return __float2bfloat16_rn(x); }
    static Type rz(float x) { return __float2bfloat16_rz(x); }
    static Type rd(float x) { return __float2bfloat16_rd(x); }
    static Type ru(float x) { return __float2bfloat16_ru(x); }
    static Type from_double(double x) { return __double2bfloat16(x); }
    static Type from_ll(long long x) { return __ll2bfloat16_rn(x); }
    static Type from_ll_rz(long long x) { return __ll2bfloat16_rz(x); }
    static float value(Type x) { return __bfloat162float(x); }
    static int to_int_rn(Type x) { return __bfloat162int_rn(x); }
    static int to_int_rz(Type x) { return __bfloat162int_rz(x); }
    static int to_int_rd(Type x) { return __bfloat162int_rd(x); }
    static int to_int_ru(Type x) { return __bfloat162int_ru(x); }
    static unsigned to_uint_rz(Type x) { return __bfloat162uint_rz(x); }
    static long long to_ll_rz(Type x) { return __bfloat162ll_rz(x); }
    static short to_short_rz(Type x) { return __bfloat162short_rz(x); }
};

template <class F>
class ShortFloat : public testing::Test {
  public:
    static constexpr unsigned kInfinity = 0x7fffU >> F::kFractionBits << F::kFractionBits;

    // By the definition; what would come after the largest number stands for infinity.
    static long double value(unsigned bits) {
        const int exponent = static_cast<int>(bits >> F::kFractionBits & (kInfinity >> F::kFractionBits));
        const auto fraction = static_cast<long double>(bits & ((1U << F::kFractionBits) - 1));
        const long double one = std::ldexp(1.0L, F::kFractionBits);
        const long double magnitude = exponent == 0
                                          ? std::ldexp(fraction, 1 - F::kBias - F::kFractionBits)
                                          : std::ldexp(fraction + one, exponent - F::kBias - F::kFractionBits);
        return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
    }

    // The neighbours of x among the numbers, by search; then the choice between them, by distance.
    static unsigned rounded(long double x, Rounding mode) {
        const unsigned sign = std::signbit(x) ? 0x8000U : 0U;
        const long double magnitude = std::fabs(x);
        unsigned low = 0, high = kInfinity;
        while (high - low > 1) {
            const unsigned middle = (low + high) / 2;
            (value(middle) <= magnitude ? low : high) = middle;
        }
        const long double below = magnitude - value(low), above = value(high) - magnitude;
        const bool inward = mode == Rounding::zero || mode == (sign != 0 ? Rounding::up : Rounding::down);
        if (below == 0) {
            return sign | low;
        }
        if (mode != Rounding::nearest) {
            return sign | (inward ? low : high);
        }
        return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
    }
};
using Formats = testing::Types<Half, Bfloat>;
TYPED_TEST_SUITE(ShortFloat, Formats);

TYPED_TEST(ShortFloat, EveryPatternHasItsValueAndComesBack) {
    using F = TypeParam;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const typename F::Type x = F::from(bits);
        const float seen = F::value(x);
        const unsigned magnitude = bits & 0x7fffU;
        ASSERT_EQ(F::bits(x), bits);
        ASSERT_EQ(__hisnan(x), magnitude > this->kInfinity) << bits;
        ASSERT_EQ(__hisinf(x), magnitude != this->kInfinity ? 0 : bits == magnitude ? 1 : -1) << bits;
        if (magnitude > this->kInfinity) {
            ASSERT_TRUE(std::isnan(seen)) << bits;
            ASSERT_EQ(F::bits(F::rn(seen)), 0x7fff) << bits;
            continue;
        }
        const long double expected = magnitude == this->kInfinity
                                         ? std::copysign(HUGE_VALL, bits == magnitude ? 1.0L : -1.0L)
                                         : this->value(bits);
        ASSERT_EQ(seen, expected) << bits;
        ASSERT_EQ(std::signbit(seen), bits != magnitude) << bits;
        for (const auto back : {F::rn(seen), F::rz(seen), F::rd(seen), F::ru(seen), F::from_double(seen)}) {
            ASSERT_EQ(F::bits(back), bits);
        }
    }
}

TYPED_TEST(ShortFloat, FloatsBetweenNeighboursAreRoundedInEveryMode) {
    using F = TypeParam;
    const auto expect = [&](float x) {
        ASSERT_EQ(F::bits(F::rn(x)), this->rounded(x, Rounding::nearest)) << x;
        ASSERT_EQ(F::bits(F::rz(x)), this->rounded(x, Rounding::zero)) << x;
        ASSERT_EQ(F::bits(F::rd(x)), this->rounded(x, Rounding::down)) << x;
        ASSERT_EQ(F::bits(F::ru(x)), this->rounded(x, Rounding::up)) << x;
    };
    for (unsigned bits = 0; bits < this->kInfinity; bits++) {
        // The middle to the next number is a float; so are the floats beside both.
        const auto from = static_cast<float>(this->value(bits));
        const auto middle = static_cast<float>((this->value(bits) + this->value(bits + 1)) / 2);
        for (const float x : {from, middle}) {
            for (const float y : {std::nextafter(x, 0.0F), x, std::nextafter(x, HUGE_VALF)}) {
                if (std::isfinite(y)) {
                    expect(y);
                    expect(-y);
                }
            }
        }
    }
    EXPECT_EQ(F::bits(F::rn(HUGE_VALF)), this->kInfinity);
    EXPECT_EQ(F::bits(F::rz(-HUGE_VALF)), this->kInfinity | 0x8000U);
}

TYPED_TEST(ShortFloat, DoublesAreRoundedOnce) {
    using F = TypeParam;
    for (unsigned bits = 0; bits + 1 < this->kInfinity; bits++) {
        const auto middle = static_cast<double>((this->value(bits) + this->value(bits + 1)) / 2);
        for (const double x : {std::nextafter(middle, 0.0), middle, std::nextafter(middle, HUGE_VAL)}) {
            ASSERT_EQ(F::bits(F::from_double(x)), this->rounded(x, Rounding::nearest)) << x;
        }
    }
}

TYPED_TEST(ShortFloat, ToIntegersEveryPattern) {
    using F = TypeParam;
    constexpr long double kMost = std::numeric_limits<int>::max(), kLeast = std::numeric_limits<int>::min();
    const auto clamp = [](long double x, long double least, long double most) {
        return std::fmin(std::fmax(x, least), most);
    };
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const typename F::Type x = F::from(bits);
        if (__hisnan(x)) {
            ASSERT_EQ(F::to_int_rz(x), 0);
            ASSERT_EQ(F::to_ll_rz(x), std::numeric_limits<long long>::min());
            continue;
        }
        const auto value = static_cast<long double>(F::value(x));
        ASSERT_EQ(F::to_int_rz(x), clamp(std::trunc(value), kLeast, kMost)) << bits;
        ASSERT_EQ(F::to_int_rd(x), clamp(std::floor(value), kLeast, kMost)) << bits;
        ASSERT_EQ(F::to_int_ru(x), clamp(std::ceil(value), kLeast, kMost)) << bits;
        ASSERT_EQ(F::to_int_rn(x), clamp(std::rint(value), kLeast, kMost)) << bits;
        ASSERT_EQ(F::to_uint_rz(x), clamp(std::trunc(value), 0, 4294967295.0L)) << bits;
        ASSERT_EQ(F::to_short_rz(x), clamp(std::trunc(value), -32768, 32767)) << bits;
        ASSERT_EQ(F::to_ll_rz(x), clamp(std::trunc(value), std::numeric_limits<long long>::min(),
                                        static_cast<long double>(std::numeric_limits<long long>::max())))
            << bits;
    }
}

TYPED_TEST(ShortFloat, FromIntegersIsRoundedOnce) {
    using F = TypeParam;
    std::mt19937_64 random(1);
    for (int i = 0; i < 300000; i++) {
        // Near ties: a few leading bits, then nothing, then a last bit or none.
        const int shift = static_cast<int>(random() % 63);
        auto value = static_cast<long long>((random() & 0xfffU) << shift >> 1U);
        value = random() % 2 != 0 ? value : value + static_cast<long long>(random() % 3) - 1;
        ASSERT_EQ(F::bits(F::from_ll(value)), this->rounded(value, Rounding::nearest)) << value;
        ASSERT_EQ(F::bits(F::from_ll_rz(value)), this->rounded(value, Rounding::zero)) << value;
    }
    EXPECT_EQ(F::value(F::from_ll(0)), 0.0F);
}

TYPED_TEST(ShortFloat, ArithmeticIsRoundedOnce) {
    using F = TypeParam;
    std::mt19937_64 random(2);
    for (int i = 0; i < 1000000; i++) {
        // Close exponents, so that a long double (64 bits) holds sums and products exactly.
        const unsigned exponent = static_cast<unsigned>(random() % (this->kInfinity >> F::kFractionBits));
        const auto operand = [&] {
            const unsigned near =
                std::min(exponent + static_cast<unsigned>(random() % 8), (this->kInfinity >> F::kFractionBits) - 1);
            return (static_cast<unsigned>(random()) & 0x8000U) | near << F::kFractionBits |
                   (static_cast<unsigned>(random()) & ((1U << F::kFractionBits) - 1));
        };
        const unsigned a = operand(), b = operand();
        const long double x = this->value(a), y = this->value(b);
        const typename F::Type p = F::from(a), q = F::from(b);
        ASSERT_EQ(F::bits(p + q), this->rounded(x + y, Rounding::nearest)) << x << " + " << y;
        ASSERT_EQ(F::bits(p - q), this->rounded(x - y, Rounding::nearest)) << x << " - " << y;
        ASSERT_EQ(F::bits(p * q), this->rounded(x * y, Rounding::nearest)) << x << " * " << y;
        if (y != 0) {
            // 64 bits of the quotient: no tie is made of what is none.
            ASSERT_EQ(F::bits(p / q), this->rounded(x / y, Rounding::nearest)) << x << " / " << y;
        }
        ASSERT_EQ(p < q, x < y);
        ASSERT_EQ(p <= q, x <= y);
        ASSERT_EQ(p == q, x == y);
        ASSERT_EQ(p != q, x != y);
    }
}

TYPED_TEST(ShortFloat, FmaIsRoundedOnceWhateverTheDistanceOfItsTerms) {
    using F = TypeParam;
    const auto fma = [](float a, float b, float c) { return F::value(__hfma(F::rn(a), F::rn(b), F::rn(c))); };
    // (1 + u)(1 + u) = 1 + 2u + u²: with u² a tie's half away from it, the term that is far below decides.
    const float u = std::ldexp(1.0F, -F::kFractionBits);
    const float small = static_cast<float>(this->value(1));
    EXPECT_EQ(fma(1 + u, 1 + u, 0), 1 + 2 * u);
    const float tie = std::ldexp(1.0F, F::kFractionBits / 2 + 1);
    // 1.5 * (1 + u) = 1.5 + 1.5 u: between 1.5 + u and 1.5 + 2u, at the middle.
    EXPECT_EQ(fma(1.5F, 1 + u, 0), 1.5F + 2 * u);
    EXPECT_EQ(fma(1.5F, 1 + u, -small), 1.5F + u) << "a term far below breaks the tie";
    EXPECT_EQ(fma(1.5F, 1 + u, small), 1.5F + 2 * u);
    EXPECT_EQ(fma(-1.5F, 1 + u, small), -1.5F - u);
    EXPECT_EQ(fma(tie, 0, -0.0F), 0.0F);
}

TYPED_TEST(ShortFloat, SpecialValuesFollowTheStandard) {
    using F = TypeParam;
    using T = typename F::Type;
    const T infinity = F::from(this->kInfinity), nan = F::from(0x7fff), zero = F::from(0), minus_zero = F::from(0x8000);
    const T one = F::rn(1.0F), largest = F::from(this->kInfinity - 1);
    EXPECT_EQ(F::bits(infinity - infinity), 0x7fff);
    EXPECT_EQ(F::bits(largest + largest), this->kInfinity);
    EXPECT_EQ(F::bits(one / zero), this->kInfinity);
    EXPECT_EQ(F::bits(one / minus_zero), this->kInfinity | 0x8000U);
    EXPECT_EQ(F::bits(zero * infinity), 0x7fff);
    EXPECT_EQ(F::bits(__hmax(nan, one)), F::bits(one));
    EXPECT_EQ(F::bits(__hmin(one, nan)), F::bits(one));
    EXPECT_EQ(F::bits(__hmax_nan(nan, one)), 0x7fff);
    EXPECT_EQ(F::bits(__hmax(minus_zero, zero)), 0);
    EXPECT_EQ(F::bits(__hmin(zero, minus_zero)), 0x8000);
    EXPECT_FALSE(__heq(nan, nan));
    EXPECT_TRUE(__hequ(nan, one));
    EXPECT_TRUE(nan != nan);
    EXPECT_FALSE(nan < one || nan > one);
    EXPECT_EQ(F::bits(__hadd_sat(one, one)), F::bits(one));
    EXPECT_EQ(F::bits(__hadd_sat(nan, one)), 0);
    EXPECT_EQ(F::bits(__hfma_relu(one, -one, zero)), 0);
    EXPECT_EQ(F::bits(hsqrt(-one)), 0x7fff);
    EXPECT_EQ(F::bits(hrsqrt(zero)), this->kInfinity);
    EXPECT_EQ(F::bits(hlog(zero)), this->kInfinity | 0x8000U);
}

TYPED_TEST(ShortFloat, FunctionsOfEveryPatternAreTheNearestNumber) {
    using F = TypeParam;
    for (unsigned bits = 0; bits < this->kInfinity; bits++) {
        const typename F::Type x = F::from(bits);
        const long double value = this->value(bits);
        ASSERT_EQ(F::bits(hsqrt(x)), this->rounded(std::sqrt(value), Rounding::nearest)) << bits;
        ASSERT_EQ(F::bits(htanh(x)), this->rounded(std::tanh(value), Rounding::nearest)) << bits;
        ASSERT_EQ(F::bits(hsin(x)), this->rounded(std::sin(value), Rounding::nearest)) << bits;
        if (bits > 0) {
            ASSERT_EQ(F::bits(hrsqrt(x)), this->rounded(1 / std::sqrt(value), Rounding::nearest)) << bits;
            ASSERT_EQ(F::bits(hlog(x)), this->rounded(std::log(value), Rounding::nearest)) << bits;
        }
        if (value < 80) {
            ASSERT_EQ(F::bits(hexp(x)), this->rounded(std::exp(value), Rounding::nearest)) << bits;
            ASSERT_EQ(F::bits(hexp(-x)), this->rounded(std::exp(-value), Rounding::nearest)) << bits;
        }
    }
}

TYPED_TEST(ShortFloat, PairsAreTwoOfThem) {
    using F = TypeParam;
    using Pair = typename F::Pair;
    const Pair a(F::rn(1.5F), F::rn(-2.0F)), b(F::rn(0.5F), F::rn(-2.0F));
    const auto expect = [](Pair seen, float x, float y) {
        EXPECT_EQ(F::value(seen.x), x);
        EXPECT_EQ(F::value(seen.y), y);
    };
    expect(a + b, 2, -4);
    expect(a - b, 1, 0);
    expect(a * b, 0.75F, 4);
    expect(a / b, 3, 1);
    expect(__hfma2(a, b, a), 2.25F, 2);
    expect(__hmax2(a, b), 1.5F, -2);
    expect(__hneg2(a), -1.5F, 2);
    expect(__habs2(a), 1.5F, 2);
    expect(__heq2(a, b), 0, 1);
    expect(__lowhigh2highlow(a), -2, 1.5F);
    expect(__hcmadd(a, b, a), 1.5F * 0.5F - 4 + 1.5F, 1.5F * -2 + -2 * 0.5F - 2);
    EXPECT_EQ(__hge2_mask(a, b), 0xffffffffU);
    EXPECT_EQ(__hgt2_mask(a, b), 0x0000ffffU);
    EXPECT_FALSE(__hbeq2(a, b));
    EXPECT_TRUE(a == a);
    EXPECT_EQ(__low2float(a), 1.5F);
    EXPECT_EQ(__high2float(a), -2.0F);
}

// ---- bytes ----------------------------------------------------------------------------------------------------------

struct ByteKind {
    __nv_fp8_interpretation_t kind;
    int fraction_bits, bias;
    unsigned largest;
    double largest_value;
};
constexpr ByteKind kByteKinds[] = {{__NV_E4M3, 3, 7, 0x7e, 448}, {__NV_E5M2, 2, 15, 0x7b, 57344}};

double byte_value(const ByteKind& format, unsigned bits) {
    const int exponent = static_cast<int>(bits) >> format.fraction_bits;
    const int fraction = static_cast<int>(bits) & ((1 << format.fraction_bits) - 1);
    const int implicit = exponent == 0 ? 0 : 1 << format.fraction_bits;
    return std::ldexp(implicit + fraction, std::max(exponent, 1) - format.bias - format.fraction_bits);
}

float decoded(unsigned bits, __nv_fp8_interpretation_t kind) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(bits), kind)));
}

TEST(Bytes, HaveTheValuesOfTheirDefinition) {
    for (const ByteKind& format : kByteKinds) {
        for (unsigned bits = 0; bits <= format.largest; bits++) {
            EXPECT_EQ(decoded(bits, format.kind), byte_value(format, bits)) << bits;
            EXPECT_EQ(decoded(bits | 0x80U, format.kind), -byte_value(format, bits)) << bits;
        }
        EXPECT_EQ(byte_value(format, format.largest), format.largest_value);
        EXPECT_TRUE(std::isnan(decoded(0x7f, format.kind)));
        EXPECT_TRUE(std::isnan(decoded(0xff, format.kind)));
    }
    EXPECT_EQ(decoded(0x7c, __NV_E5M2), std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(decoded(0x7d, __NV_E5M2)));
}

TEST(Bytes, AreTheNearestNumberAndOfTwoTheEvenOne) {
    for (const ByteKind& format : kByteKinds) {
        for (const __nv_saturation_t saturation : {__NV_SATFINITE, __NV_NOSAT}) {
            const auto bits_of = [&](double x) { return __nv_cvt_double_to_fp8(x, saturation, format.kind); };
            for (unsigned bits = 0; bits < format.largest; bits++) {
                const double value = byte_value(format, bits), next = byte_value(format, bits + 1);
                const double middle = (value + next) / 2;
                ASSERT_EQ(bits_of(value), bits);
                ASSERT_EQ(bits_of(std::nextafter(middle, 0.0)), bits);
                ASSERT_EQ(bits_of(middle), bits % 2 == 0 ? bits : bits + 1);
                ASSERT_EQ(bits_of(std::nextafter(middle, 1e9)), bits + 1);
                ASSERT_EQ(bits_of(-middle), (bits % 2 == 0 ? bits : bits + 1) | 0x80U);
                const float single = std::nextafter(static_cast<float>(middle), 1e9F);
                ASSERT_EQ(__nv_cvt_float_to_fp8(single, saturation, format.kind), bits + 1);
            }
        }
    }
}

TEST(Bytes, BeyondTheLargestNumberSaturateOrDoNot) {
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(__nv_cvt_double_to_fp8(464, __NV_SATFINITE, __NV_E4M3), 0x7e) << "the tie goes to the even number";
    EXPECT_EQ(__nv_cvt_double_to_fp8(464, __NV_NOSAT, __NV_E4M3), 0x7e);
    EXPECT_EQ(__nv_cvt_double_to_fp8(464.1, __NV_SATFINITE, __NV_E4M3), 0x7e);
    EXPECT_EQ(__nv_cvt_double_to_fp8(464.1, __NV_NOSAT, __NV_E4M3), 0x7f) << "no infinity";
    EXPECT_EQ(__nv_cvt_double_to_fp8(-infinity, __NV_SATFINITE, __NV_E4M3), 0xfe);
    EXPECT_EQ(__nv_cvt_double_to_fp8(-infinity, __NV_NOSAT, __NV_E4M3), 0xff);
    EXPECT_EQ(__nv_cvt_double_to_fp8(61439, __NV_NOSAT, __NV_E5M2), 0x7b);
    EXPECT_EQ(__nv_cvt_double_to_fp8(61440, __NV_NOSAT, __NV_E5M2), 0x7c) << "infinity";
    EXPECT_EQ(__nv_cvt_double_to_fp8(1e30, __NV_SATFINITE, __NV_E5M2), 0x7b);
    EXPECT_EQ(__nv_cvt_double_to_fp8(-infinity, __NV_NOSAT, __NV_E5M2), 0xfc);
    for (const __nv_saturation_t saturation : {__NV_SATFINITE, __NV_NOSAT}) {
        EXPECT_EQ(__nv_cvt_double_to_fp8(nan, saturation, __NV_E4M3), 0x7f);
        EXPECT_EQ(__nv_cvt_double_to_fp8(nan, saturation, __NV_E5M2), 0x7f);
    }
}

TEST(Bytes, AreTypesPairsAndFours) {
    const __nv_fp8_e4m3 a(1.3F), b(-1000), c(__float2half(0.5F)), d(__float2bfloat16(-0.25F));
    EXPECT_EQ(float(a), 1.25F);
    EXPECT_EQ(float(b), -448);
    EXPECT_EQ(int(__nv_fp8_e4m3(-3.5)), -3);
    EXPECT_EQ(__half2float(__half(c)), 0.5F);
    EXPECT_EQ(__bfloat162float(__nv_bfloat16(d)), -0.25F);
    EXPECT_TRUE(bool(a));
    EXPECT_FALSE(bool(__nv_fp8_e5m2(-0.0F)));
    const __nv_fp8x2_e5m2 pair(float2{3, -0.5F});
    EXPECT_EQ(pair.__x, __nv_fp8_e5m2(3.0F).__x | __nv_fp8_e5m2(-0.5F).__x << 8);
    EXPECT_EQ(float2(pair).x, 3);
    EXPECT_EQ(__high2float(__half2(pair)), -0.5F);
    const __nv_fp8x4_e4m3 four(float4{1, 2, -3, 4}),
        same(__half2(__half(1.0F), __half(2.0F)), __half2(__half(-3.0F), __half(4.0F)));
    EXPECT_EQ(four.__x, same.__x);
    EXPECT_EQ(float4(four).z, -3);
}

static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(__nv_fp8x2_e5m2) == 2 && sizeof(__nv_fp8x4_e4m3) == 4);
static_assert(std::is_trivially_default_constructible_v<__nv_fp8_e5m2>);

static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4);
static_assert(sizeof(__nv_bfloat16) == 2 && sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4);
static_assert(std::is_trivially_copyable_v<__half2> && std::is_trivially_default_constructible_v<__nv_bfloat16>);

}  // namespace
