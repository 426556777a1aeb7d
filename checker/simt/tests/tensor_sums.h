// SPDX-License-Identifier: MIT
//
// Sums of tensor cores, worked out by hand, for the device's arithmetic and for a card.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "checker/simt/runtime/tensor/tile_product.h"

namespace tensor_sums {

using simt::TensorType;

inline constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kMax = std::numeric_limits<float>::max(), kMaxF16 = 65504;

inline float two_to(int exponent) {
    return std::ldexp(1.0F, exponent);
}

// Returns the word of a value that the type can hold.
inline std::uint32_t word(TensorType type, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (type != TensorType::f16) {
        return type == TensorType::bf16 ? bits >> 16 : bits;
    }
    const std::uint32_t sign = bits >> 16 & 0x8000U;
    if (!std::isfinite(value)) {
        return sign | (std::isnan(value) ? 0x7e00U : 0x7c00U);
    }
    const int exponent = value == 0 ? -14 : std::max(std::ilogb(value), -14);
    const auto significand = static_cast<std::uint32_t>(std::ldexp(std::abs(value), 10 - exponent));
    return sign | (significand + (static_cast<std::uint32_t>(exponent + 14) << 10));
}

// Returns the bits that hardware returns for this value: its only NaN has all bits set but the sign.
inline std::uint32_t expected_bits(bool f16_accumulator, float value) {
    if (std::isnan(value)) {
        return f16_accumulator ? 0x7fffU : 0x7fffffffU;
    }
    return f16_accumulator ? word(TensorType::f16, value) : std::bit_cast<std::uint32_t>(value);
}

struct Factors {
    int k;
    float a, b;
};

// One element of a tile. Factors that are not given are 0.
struct Sum {
    const char* what;
    TensorType type;
    bool f16_accumulator;
    std::vector<Factors> factors;
    float c;
    float ampere, hopper;  // results on an A100 and on an H100; a T4's is an A100's

    int length() const { return type == TensorType::tf32 ? 8 : 16; }
};

// Sums in which an emulator shows that keeps other bits, in other chunks, or aligns products otherwise.
inline std::vector<Sum> telling_sums() {
    const auto f16 = TensorType::f16, bf16 = TensorType::bf16, tf32 = TensorType::tf32;
    std::vector<Sum> sums;
    for (const TensorType type : {f16, bf16, tf32}) {
        const int chunk = type == tf32 ? 4 : 8;  // an A100's; an H100's is twice as long
        const float two12 = two_to(-12), two13 = two_to(-13);
        sums.insert(
            sums.end(),
            {{"24 bits below the largest exponent are kept", type, false, {{0, 1, 1}, {1, two12, two12}}, -1,
              two_to(-24), two_to(-24)},
             {"of 25 bits an A100 drops the last one", type, false, {{0, 1, 1}, {1, two12, two13}}, -1, 0, two_to(-25)},
             {"of 26 bits an H100 drops the last one", type, false, {{0, 1, 1}, {1, two13, two13}}, -1, 0, 0},
             {"negative terms are cut toward zero too", type, false, {{0, 1, 1}, {1, -two13, two13}}, -1, 0, 0},
             {"the last product of an A100's chunk is not rounded before the sum", type, false,
              {{0, 1, 1}, {1, two12, two12}, {chunk - 1, -1, 1}}, 0, two_to(-24), two_to(-24)},
             {"an A100 rounds where its chunk ends, and an H100 does not", type, false,
              {{0, 1, 1}, {1, two12, two12}, {chunk, -1, 1}}, 0, 0, two_to(-24)},
             {"an H100's chunk has the last of these products", type, false,
              {{0, 1, 1}, {1, two12, two12}, {type == tf32 ? 7 : 15, -1, 1}}, 0, 0, two_to(-24)},
             {"1.5 x 1.5 has the exponent 0, not 1: 24 bits", type, false,
              {{0, 1.5F, 1.5F}, {1, -1.5F, 1.5F}, {2, two12, two12}}, 0, two_to(-24), two_to(-24)},
             {"1.5 x 1.5 has the exponent 0, not 1: 25 bits", type, false,
              {{0, 1.5F, 1.5F}, {1, -1.5F, 1.5F}, {2, two12, two13}}, 0, 0, two_to(-25)}});
    }
    // A zero's exponent is -132 or -133, with 24 or 25 bits below it: products are cut at 2^-156 or 2^-158.
    for (const TensorType type : {bf16, tf32}) {
        for (const auto& [exponent, ampere, hopper] :
             {std::tuple{-156, 0.0F, 0.0F}, {-157, two_to(-149), 0.0F}, {-158, two_to(-149), 0.0F},
              {-159, two_to(-149), two_to(-149)}}) {
            sums.push_back({"a zero aligns tiny products", type, false,
                            {{0, two_to(-75), two_to(-74)}, {1, -two_to(-80), two_to(exponent + 80)}}, 0, ampere, hopper});
        }
    }
    // With f16 accumulators products are cut at 2^-44 or 2^-46: what is left decides a tie at 2^-25.
    for (const auto& [exponent, ampere, hopper] :
         {std::tuple{-44, two_to(-24), two_to(-24)}, {-45, 0.0F, two_to(-24)}, {-46, 0.0F, two_to(-24)},
          {-47, 0.0F, 0.0F}}) {
        sums.push_back({"a zero aligns tiny products, accumulated in f16", f16, true,
                        {{0, two_to(-14), two_to(-11)}, {1, two_to(-23), two_to(exponent + 23)}}, 0, ampere, hopper});
    }
    return sums;
}

inline std::vector<Sum> sums_with_other_edges() {
    const auto f16 = TensorType::f16, bf16 = TensorType::bf16, tf32 = TensorType::tf32;
    const float ulp = two_to(-23), below_one = 1 - two_to(-24);
    std::vector<Sum> sums{
        {"the result is rounded toward zero", tf32, false, {{0, two_to(-12), two_to(-12)}}, 1, 1, 1},
        {"the result is rounded toward zero, not up", tf32, false, {{0, 3, two_to(-24)}}, 1, 1 + ulp, 1 + ulp},
        {"a negative result is rounded toward zero", tf32, false, {{0, -3, two_to(-24)}}, -1, -1 - ulp, -1 - ulp},
        {"a borrow of the 25th bit", tf32, false, {{0, -two_to(-12), two_to(-13)}}, 1, 1, below_one},
        {"-0 and -0 make +0", tf32, false, {{0, -0.0F, 1}}, -0.0F, 0, 0},
        {"a negative result below all floats is +0", tf32, false, {{0, -two_to(-75), two_to(-75)}}, 0, 0, 0},
        {"subnormal TF32", tf32, false, {{0, two_to(-136), 1}}, 0, two_to(-136), two_to(-136)},
        {"subnormal bf16", bf16, false, {{0, two_to(-133), 3}}, 0, 3 * two_to(-133), 3 * two_to(-133)},
        {"subnormal f16", f16, false, {{0, two_to(-24), two_to(-24)}}, 0, two_to(-48), two_to(-48)},
        {"a subnormal accumulator", tf32, false, {{0, two_to(-75), two_to(-74)}}, two_to(-149), two_to(-148), two_to(-148)},
        {"2^128 is infinite", bf16, false, {{0, two_to(127), 2}}, 0, kInf, kInf},
        {"-2^128 is infinite", bf16, false, {{0, two_to(127), -2}}, 0, -kInf, -kInf},
        {"below 2^128 the largest float", tf32, false, {{0, two_to(100), 8}}, kMax, kMax, kMax},
        {"exactly 2^128", tf32, false, {{0, two_to(100), 16}}, kMax, kInf, kInf},
        {"products may leave the floats' range", bf16, false,
         {{0, two_to(127), two_to(127)}, {1, -two_to(127), two_to(127)}, {2, 1, two_to(100)}}, 0, 0, 0},
        {"an infinite accumulator of the chunk before stays", f16, false, {{12, 1, 1}}, -kInf, -kInf, -kInf},
        {"f16: a tie goes to the even one below", f16, true, {{0, two_to(-11), 1}}, 1, 1, 1},
        {"f16: a tie goes to the even one above", f16, true, {{0, 3, two_to(-11)}}, 1, 1 + two_to(-9), 1 + two_to(-9)},
        {"f16: above a tie", f16, true, {{0, two_to(-11), 1}, {1, two_to(-10), two_to(-10)}}, 1, 1 + two_to(-10),
         1 + two_to(-10)},
        {"f16: a tie above the largest number is infinite", f16, true, {{0, 16, 1}}, kMaxF16, kInf, kInf},
        {"f16: below that tie the largest number", f16, true, {{0, -15, 1}}, -kMaxF16, -kMaxF16, -kMaxF16},
        {"f16: a carry makes a subnormal number normal", f16, true, {{0, two_to(-13), two_to(-12)}},
         two_to(-14) - two_to(-24), two_to(-14), two_to(-14)},
        {"f16: -0 and -0 make +0", f16, true, {{0, -0.0F, 1}}, -0.0F, 0, 0},
    };
    for (const bool f16_accumulator : {false, true}) {
        for (const TensorType type : {f16, bf16, tf32}) {
            if (f16_accumulator && type != f16) {
                continue;
            }
            const auto add = [&](const char* what, std::vector<Factors> factors, float c, float result) {
                sums.push_back({what, type, f16_accumulator, std::move(factors), c, result, result});
            };
            add("NaN in a", {{3, kNan, 1}}, 0, kNan);
            add("NaN in b, times 0", {{3, 0, kNan}}, 0, kNan);
            add("NaN in c", {{3, 1, 1}}, kNan, kNan);
            add("NaN and an infinity", {{3, kNan, 1}, {2, kInf, 1}}, -kInf, kNan);
            add("Inf", {{7, kInf, 2}}, 5, kInf);
            add("-Inf", {{7, -2, kInf}}, 5, -kInf);
            add("Inf of two negative factors", {{7, -kInf, -kInf}}, 5, kInf);
            add("Inf times 0", {{1, kInf, 0}}, 0, kNan);
            add("Inf times -0", {{1, -0.0F, -kInf}}, 0, kNan);
            add("Inf and -Inf in a chunk", {{1, kInf, 1}, {2, kInf, -1}}, 0, kNan);
            add("Inf and -Inf in different chunks", {{0, kInf, 1}, {7, kInf, -1}}, 0, kNan);
            add("Inf and c of -Inf", {{1, kInf, 1}}, -kInf, kNan);
            add("Inf and c of Inf", {{1, kInf, 1}}, kInf, kInf);
            add("c of -Inf", {{1, 3, 1}}, -kInf, -kInf);
        }
    }
    // An A100's first chunk overflows before the infinity of the other sign comes.
    sums.push_back({"an overflow, then -Inf", tf32, false, {{0, two_to(127), 2}, {5, -1, kInf}}, 0, kNan, -kInf});
    return sums;
}

}  // namespace tensor_sums
