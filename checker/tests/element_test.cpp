// SPDX-License-Identifier: MIT
//
// Elements against what others know of them: bfloat16 and half against the CPU device's, through all their patterns; the
// 8-bit types against their specification (OCP 8-bit Floating Point, table 1 and section 5).
#include "checker/cases/element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "checker/simt/include/simt/short_float.h"

using namespace checker;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float value(std::uint32_t bits, Element element) {
    return decode({reinterpret_cast<const std::byte*>(&bits), bytes_of(element)}, element).values.at(0);
}

std::uint32_t rounded(float number, Element element) {
    std::uint32_t bits = 0;
    const std::vector<std::byte> bytes = encode(std::span(&number, 1), element);
    std::memcpy(&bits, bytes.data(), bytes.size());
    return bits;
}

bool same(float a, float b) {
    return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// What lies between two neighbouring numbers of the type: a little below, at and above the middle.
template <class Format>
void expect_as_the_device(Element element) {
    for (std::uint32_t bits = 0; bits < 0x10000; bits++) {
        const auto pattern = static_cast<std::uint16_t>(bits);
        const float exact = Format::value(pattern);
        ASSERT_TRUE(same(value(bits, element), exact)) << std::hex << bits;
        if (std::isnan(exact)) {
            ASSERT_TRUE(std::isnan(value(rounded(exact, element), element))) << std::hex << bits;
            continue;
        }
        ASSERT_EQ(rounded(exact, element), bits) << std::hex;
        if (std::isinf(exact)) {
            continue;
        }
        const float middle = exact + static_cast<float>(std::copysign(ulp(exact, element) / 2, exact));
        for (const float number : {std::nextafter(middle, 0.0F), middle, std::nextafter(middle, 2 * middle)}) {
            ASSERT_EQ(rounded(number, element), Format::round(static_cast<double>(number))) << std::hex << bits;
        }
    }
}

}  // namespace

TEST(Element, Bfloat16HasTheValuesAndTheRoundingOfTheCpuDevice) {
    expect_as_the_device<simt::BfloatFormat>(Element::bf16);
}

TEST(Element, HalfHasTheValuesAndTheRoundingOfTheCpuDevice) {
    expect_as_the_device<simt::HalfFormat>(Element::f16);
}

TEST(Element, EightBitFloatsHaveTheValuesOfTheirSpecification) {
    const Element e4m3 = Element::f8_e4m3, e5m2 = Element::f8_e5m2;
    EXPECT_EQ(value(0x7E, e4m3), 448.0F);
    EXPECT_EQ(value(0x08, e4m3), 0x1p-6F);
    EXPECT_EQ(value(0x07, e4m3), 0.875F * 0x1p-6F);
    EXPECT_EQ(value(0x01, e4m3), 0x1p-9F);
    EXPECT_TRUE(std::isnan(value(0x7F, e4m3)) && std::isnan(value(0xFF, e4m3)));
    EXPECT_TRUE(same(value(0x80, e4m3), -0.0F));
    EXPECT_EQ(value(0x7B, e5m2), 57'344.0F);
    EXPECT_EQ(value(0x04, e5m2), 0x1p-14F);
    EXPECT_EQ(value(0x03, e5m2), 0.75F * 0x1p-14F);
    EXPECT_EQ(value(0x01, e5m2), 0x1p-16F);
    EXPECT_EQ(value(0xFC, e5m2), -kInf);
    for (const std::uint32_t bits : {0x7DU, 0x7EU, 0x7FU, 0xFDU}) {
        EXPECT_TRUE(std::isnan(value(bits, e5m2))) << bits;
    }
}

TEST(Element, EightBitFloatsAreTheNearestOfAllTheirNumbersAndOfTwoTheEvenOne) {
    std::mt19937 random(1);
    for (const auto& [element, largest] :
         {std::pair(Element::f8_e4m3, 448.0F), std::pair(Element::f8_e5m2, 57'344.0F)}) {
        std::lognormal_distribution<float> spread(0.0F, 6.0F);
        for (int i = 0; i < 20'000; i++) {
            // Every other one in the middle between two numbers, where the even one is nearest.
            float number = std::min(spread(random), largest);
            if (i % 2 == 0) {
                const float below = value(rounded(number, element), element);
                number = std::min(below + static_cast<float>(ulp(below, element) / 2), largest);
            }
            std::uint32_t nearest = 0;
            for (std::uint32_t bits = 1; bits < 0x80 && std::isfinite(value(bits, element)); bits++) {
                const float off = std::abs(value(bits, element) - number);
                const float least = std::abs(value(nearest, element) - number);
                nearest = off < least || (off == least && bits % 2 == 0) ? bits : nearest;
            }
            ASSERT_EQ(rounded(number, element), nearest) << number << " as " << name_of(element);
            ASSERT_EQ(rounded(-number, element), nearest | 0x80) << -number << " as " << name_of(element);
        }
    }
}

TEST(Element, BeyondTheLargestNumberIsInfinityOrNan) {
    EXPECT_EQ(rounded(464.0F, Element::f8_e4m3), 0x7EU) << "half way to 480, which would be the NaN: even";
    EXPECT_EQ(rounded(465.0F, Element::f8_e4m3), 0x7FU);
    EXPECT_EQ(rounded(-1e30F, Element::f8_e4m3), 0xFFU);
    EXPECT_EQ(rounded(61'440.0F, Element::f8_e5m2), 0x7CU);
    EXPECT_EQ(rounded(kInf, Element::f8_e5m2), 0x7CU);
    EXPECT_TRUE(std::isnan(value(rounded(kNan, Element::f8_e5m2), Element::f8_e5m2)));
    EXPECT_EQ(rounded(65'520.0F, Element::f16), 0x7C00U);
}

TEST(Element, IntegersAreThereExactlyAndAsFloats) {
    const std::vector<std::int64_t> large{0, -1, (std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::min()};
    const Decoded decoded = decode(std::as_bytes(std::span(large)), Element::i64);
    EXPECT_EQ(decoded.integers, large);
    EXPECT_EQ(decoded.values.at(2), 0x1p53F);
    EXPECT_EQ(value(0x80, Element::i8), -128.0F);
    EXPECT_EQ(value(0xFFFFFFFE, Element::i32), -2.0F);
}

TEST(Element, IntegersAreTheNearestInTheirRange) {
    const std::vector<float> values{2.5F, -3.5F, 1e9F, -1e9F, kNan};
    const Decoded decoded = decode(encode(values, Element::i8), Element::i8);
    EXPECT_EQ(decoded.integers, (std::vector<std::int64_t>{2, -4, 127, -128, 0}));
    EXPECT_EQ(decode(encode(std::vector{1e20F}, Element::i64), Element::i64).integers.at(0),
              std::numeric_limits<std::int64_t>::max());
}

TEST(Ulp, OfAShorterTypeIsTheDistanceToItsNextLargerNumber) {
    for (const Element element : {Element::bf16, Element::f16, Element::f8_e4m3, Element::f8_e5m2}) {
        for (std::uint32_t bits = 0; std::isfinite(value(bits + 1, element)); bits++) {
            const float one = value(bits, element);
            ASSERT_EQ(ulp(one, element), static_cast<double>(value(bits + 1, element)) - one) << bits;
            ASSERT_EQ(ulp(-one, element), ulp(one, element)) << bits;
        }
    }
}
