// SPDX-License-Identifier: MIT
//
// The products of tensor cores: sums worked out by hand, which wrong emulators must fail, and drawn ones against the
// formula in doubles.
#include "checker/simt/runtime/tensor/tile_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "checker/simt/runtime/tensor/chosen_tensor_core.h"
#include "checker/simt/tests/tensor_sums.h"

namespace {

using namespace tensor_sums;
using simt::TensorCore;

struct Shape {
    int fraction_bits, smallest_exponent, exponent_bits;
};

Shape shape_of(TensorType type) {
    return type == TensorType::f16 ? Shape{10, -14, 5} : Shape{type == TensorType::bf16 ? 7 : 10, -126, 8};
}

float value_of(TensorType type, std::uint32_t word) {
    if (type != TensorType::f16) {
        return std::bit_cast<float>(type == TensorType::bf16 ? word << 16 : word & 0xffffe000U);
    }
    const float sign = (word & 0x8000U) != 0 ? -1.0F : 1.0F;
    const auto fraction = static_cast<float>(word & 0x3ffU);
    const int field = static_cast<int>(word >> 10 & 0x1fU);
    if (field == 31) {
        return fraction != 0 ? kNan : sign * kInf;
    }
    return sign * std::ldexp(fraction + (field > 0 ? 1024.0F : 0.0F), std::max(field, 1) - 25);
}

// ---- the formula, in doubles, which hold each of its steps exactly --------------------------------------------------------

// Not the hardware's: the exponent of a product in [2, 4) is one more than that of its factors.
enum class ProductExponent { sum_of_factors, renormalised };

double toward_zero(double x) {
    if (std::abs(x) >= 0x1p128) {
        return std::copysign(std::numeric_limits<double>::infinity(), x);
    }
    const auto nearest = static_cast<float>(x);
    const bool is_beyond = static_cast<double>(std::abs(nearest)) > std::abs(x);
    return static_cast<double>(is_beyond ? std::nextafter(nearest, 0.0F) : nearest);
}

double to_nearest_f16(double x) {
    const double place = std::ldexp(1.0, (x == 0 ? -14 : std::max(std::ilogb(x), -14)) - 10);
    const double nearest = std::nearbyint(x / place) * place;
    return std::abs(nearest) > static_cast<double>(kMaxF16) ? std::copysign(static_cast<double>(kInf), x) : nearest;
}

double formula(const TensorCore& core, TensorType type, bool f16_accumulator, const std::vector<float>& a,
               const std::vector<float>& b, double c, ProductExponent exponents = ProductExponent::sum_of_factors) {
    const std::size_t k = a.size();
    const std::size_t length = static_cast<std::size_t>(type == TensorType::tf32 ? core.chunk_tf32 : core.chunk_16_bit);
    const int zero_exponent = f16_accumulator ? core.zero_exponent_f16 : core.zero_exponent;
    const auto exponent = [](double x, int smallest) { return std::max(std::ilogb(x), smallest); };
    for (std::size_t begin = 0; begin < k; begin += length) {
        std::vector<double> terms{c};
        std::vector<int> aligned_to{c == 0 ? zero_exponent : exponent(c, f16_accumulator ? -14 : -126)};
        double special = c;
        for (std::size_t j = begin; j < std::min(begin + length, k); j++) {
            const double product = static_cast<double>(a[j]) * static_cast<double>(b[j]);
            const int smallest = shape_of(type).smallest_exponent;
            terms.push_back(product);
            aligned_to.push_back(product == 0 ? zero_exponent
                                 : exponents == ProductExponent::renormalised
                                     ? std::ilogb(product)
                                     : exponent(static_cast<double>(a[j]), smallest) +
                                           exponent(static_cast<double>(b[j]), smallest));
            special += product;
        }
        if (std::any_of(terms.begin(), terms.end(), [](double term) { return !std::isfinite(term); })) {
            c = special;
            continue;
        }
        const int scale = core.fraction_bits - *std::max_element(aligned_to.begin(), aligned_to.end());
        double sum = 0;
        for (const double term : terms) { sum += std::trunc(std::ldexp(term, scale)); }
        const double exact = std::ldexp(sum, -scale);
        c = (f16_accumulator ? to_nearest_f16(exact) : toward_zero(exact)) + 0.0;
    }
    return c;
}

// ---- sums by hand -------------------------------------------------------------------------------------------------------

// Returns the bits of an element in the middle of a tile whose other elements are 0.
std::uint32_t bits_of(const TensorCore& core, const Sum& sum) {
    constexpr int kRows = 16, kColumns = 8, kRow = 9, kColumn = 5;
    std::vector<std::uint32_t> a(static_cast<std::size_t>(kRows * sum.length()));
    std::vector<std::uint32_t> b(static_cast<std::size_t>(kColumns * sum.length()));
    for (const Factors& factors : sum.factors) {
        a[static_cast<std::size_t>(kRow * sum.length() + factors.k)] = word(sum.type, factors.a);
        b[static_cast<std::size_t>(kColumn * sum.length() + factors.k)] = word(sum.type, factors.b);
    }
    constexpr std::size_t kElement = kRow * kColumns + kColumn;
    if (sum.f16_accumulator) {
        std::vector<std::uint16_t> c(kRows * kColumns);
        c[kElement] = static_cast<std::uint16_t>(word(TensorType::f16, sum.c));
        simt::multiply_tile_f16(core, kRows, kColumns, sum.length(), a.data(), b.data(), c.data(), c.data());
        return c[kElement];
    }
    std::vector<float> c(kRows * kColumns);
    c[kElement] = sum.c;
    simt::multiply_tile(core, sum.type, kRows, kColumns, sum.length(), a.data(), b.data(), c.data(), c.data());
    return std::bit_cast<std::uint32_t>(c[kElement]);
}

bool is_right(const TensorCore& core, const Sum& sum, bool hopper) {
    return bits_of(core, sum) == expected_bits(sum.f16_accumulator, hopper ? sum.hopper : sum.ampere);
}

const TensorCore& core_of(int capability) {
    return *simt::tensor_core(capability);
}

TEST(TileProduct, AddsAsByHand) {
    for (const int capability : {75, 80, 86, 89, 90, 100, 120}) {
        const TensorCore& core = core_of(capability);
        for (const std::vector<Sum>& sums : {telling_sums(), sums_with_other_edges()}) {
            for (const Sum& sum : sums) {
                if (core.has(sum.type)) {
                    EXPECT_TRUE(is_right(core, sum, capability >= 90))
                        << sum.what << ", sm_" << capability << ", type " << static_cast<int>(sum.type) << ": " << std::hex
                        << bits_of(core, sum);
                }
            }
        }
    }
}

// ---- wrong emulators ----------------------------------------------------------------------------------------------------

struct Mutant {
    const char* what;
    TensorCore core;
};

std::vector<Mutant> mutants_of(const TensorCore& core, TensorType type) {
    TensorCore more = core, fewer = core, half = core, twice = core;
    more.fraction_bits++;
    fewer.fraction_bits--;
    int TensorCore::* const chunk = type == TensorType::tf32 ? &TensorCore::chunk_tf32 : &TensorCore::chunk_16_bit;
    half.*chunk /= 2;
    twice.*chunk *= 2;
    std::vector<Mutant> mutants{{"one bit more", more}, {"one bit fewer", fewer}, {"half a chunk", half}};
    if (core.chunk_16_bit < 16) {  // else no instruction has two chunks
        mutants.push_back({"two chunks at once", twice});
    }
    TensorCore lower = core, higher = core;
    int TensorCore::* const zero = type == TensorType::f16 ? &TensorCore::zero_exponent_f16 : &TensorCore::zero_exponent;
    lower.*zero -= 1;
    higher.*zero += 1;
    mutants.push_back({"a lower exponent of zeros", lower});
    mutants.push_back({"a higher exponent of zeros", higher});
    return mutants;
}

TEST(TileProduct, WrongEmulatorsFailSumsByHand) {
    const std::vector<Sum> sums = telling_sums();
    for (const int capability : {75, 80, 89, 90, 120}) {
        for (const TensorType type : {TensorType::f16, TensorType::bf16, TensorType::tf32}) {
            if (!core_of(capability).has(type)) {
                continue;
            }
            for (const Mutant& mutant : mutants_of(core_of(capability), type)) {
                EXPECT_TRUE(std::any_of(sums.begin(), sums.end(),
                                        [&](const Sum& sum) {
                                            return sum.type == type && !is_right(mutant.core, sum, capability >= 90);
                                        }))
                    << mutant.what << ", sm_" << capability << ", type " << static_cast<int>(type);
            }
        }
    }
}

double by_formula(const TensorCore& core, const Sum& sum, ProductExponent exponents) {
    std::vector<float> a(static_cast<std::size_t>(sum.length())), b(a.size());
    for (const Factors& factors : sum.factors) {
        a[static_cast<std::size_t>(factors.k)] = factors.a;
        b[static_cast<std::size_t>(factors.k)] = factors.b;
    }
    return formula(core, sum.type, sum.f16_accumulator, a, b, static_cast<double>(sum.c), exponents);
}

TEST(TileProduct, RenormalisedProductsFailSumsByHand) {
    const std::vector<Sum> sums = telling_sums();
    for (const int capability : {75, 80, 90}) {
        for (const TensorType type : {TensorType::f16, TensorType::bf16, TensorType::tf32}) {
            int failures = 0;
            for (const Sum& sum : sums) {
                if (sum.type != type || !core_of(capability).has(type)) {
                    continue;
                }
                const auto expected = static_cast<double>(capability >= 90 ? sum.hopper : sum.ampere);
                EXPECT_EQ(by_formula(core_of(capability), sum, ProductExponent::sum_of_factors), expected) << sum.what;
                failures += by_formula(core_of(capability), sum, ProductExponent::renormalised) != expected ? 1 : 0;
            }
            EXPECT_TRUE(failures > 0 || !core_of(capability).has(type)) << capability << " " << static_cast<int>(type);
        }
    }
}

// ---- drawn tiles --------------------------------------------------------------------------------------------------------

// Draws words. A `spread` of exponents beyond what the type has gives all of its bit patterns.
std::uint32_t drawn(std::mt19937& random, TensorType type, int spread) {
    const Shape shape = shape_of(type);
    const int skipped = type == TensorType::tf32 ? 13 : 0, bits = 1 + shape.exponent_bits + shape.fraction_bits + skipped;
    const auto all = static_cast<std::uint32_t>(random() & ((std::uint64_t{1} << bits) - 1));
    if (random() % 16 == 0) {
        return 0;
    }
    if (2 * spread >= 1 << shape.exponent_bits) {
        return all;
    }
    const int place = shape.fraction_bits + skipped, bias = (1 << (shape.exponent_bits - 1)) - 1;
    const auto field = static_cast<std::uint32_t>(bias - spread + static_cast<int>(random() % (2U * spread + 1)));
    return (all & ~(((1U << shape.exponent_bits) - 1) << place)) | field << place;
}

template <class Element>
void compare_with_formula(int capability, TensorType type, int rows, int columns, int k, int spread,
                          std::mt19937& random) {
    constexpr bool kF16 = sizeof(Element) == 2;
    const TensorCore& core = core_of(capability);
    std::vector<std::uint32_t> a(static_cast<std::size_t>(rows * k)), b(static_cast<std::size_t>(columns * k));
    std::vector<Element> c(static_cast<std::size_t>(rows * columns)), d(c.size());
    for (std::uint32_t& x : a) { x = drawn(random, type, spread); }
    for (std::uint32_t& x : b) { x = drawn(random, type, spread); }
    for (Element& x : c) {
        const std::uint32_t bits = drawn(random, kF16 ? TensorType::f16 : TensorType::tf32, spread);
        if constexpr (kF16) {
            x = static_cast<std::uint16_t>(bits);
        } else {
            x = std::bit_cast<float>(bits);
        }
    }
    if constexpr (kF16) {
        simt::multiply_tile_f16(core, rows, columns, k, a.data(), b.data(), c.data(), d.data());
    } else {
        simt::multiply_tile(core, type, rows, columns, k, a.data(), b.data(), c.data(), d.data());
    }
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
            std::vector<float> left, right;
            for (int j = 0; j < k; j++) {
                left.push_back(value_of(type, a[static_cast<std::size_t>(row * k + j)]));
                right.push_back(value_of(type, b[static_cast<std::size_t>(column * k + j)]));
            }
            const auto at = static_cast<std::size_t>(row * columns + column);
            float start = 0;
            std::uint32_t bits = 0;
            if constexpr (kF16) {
                start = value_of(TensorType::f16, c[at]);
                bits = d[at];
            } else {
                start = c[at];
                bits = std::bit_cast<std::uint32_t>(d[at]);
            }
            const double sum = formula(core, type, kF16, left, right, static_cast<double>(start));
            ASSERT_EQ(bits, expected_bits(kF16, static_cast<float>(sum)))
                << "sm_" << capability << ", type " << static_cast<int>(type) << ", spread " << spread << ", element ["
                << row << "][" << column << "] of k " << k;
        }
    }
}

TEST(TileProduct, DrawnTilesAreAsByTheFormula) {
    std::mt19937 random(1);
    for (const int capability : {70, 75, 80, 90}) {
        for (const int spread : {1, 4, 12, 128}) {
            for (const auto& [rows, columns, k] : {std::tuple{16, 8, 16}, {16, 8, 8}, {16, 8, 4}, {5, 11, 24}, {32, 8, 16}}) {
                for (const TensorType type : {TensorType::f16, TensorType::bf16, TensorType::tf32}) {
                    if (core_of(capability).has(type)) {
                        compare_with_formula<float>(capability, type, rows, columns, k, spread, random);
                    }
                }
                compare_with_formula<std::uint16_t>(capability, TensorType::f16, rows, columns, k, spread, random);
            }
        }
    }
}

// ---- which one ----------------------------------------------------------------------------------------------------------

TEST(TileProduct, IgnoresTheLowBitsOfTf32) {
    const std::uint32_t a = 0x3f801fffU, b = std::bit_cast<std::uint32_t>(3.0F) | 0x1000U;
    float d = 0.5F;
    simt::multiply_tile(core_of(90), TensorType::tf32, 1, 1, 1, &a, &b, &d, &d);
    EXPECT_EQ(d, 3.5F);
}

TEST(TileProduct, CardsDifferWhereCancellationLeavesLowBits) {
    std::mt19937 random(7);
    constexpr int kLength = 4096;
    std::vector<std::uint32_t> a(kLength), b(kLength);
    for (std::uint32_t& x : a) { x = drawn(random, TensorType::tf32, 2); }
    for (std::uint32_t& x : b) { x = drawn(random, TensorType::tf32, 2); }
    float a100 = 0, h100 = 0, zero = 0, fused = 0;
    simt::multiply_tile(core_of(80), TensorType::tf32, 1, 1, kLength, a.data(), b.data(), &zero, &a100);
    simt::multiply_tile(core_of(90), TensorType::tf32, 1, 1, kLength, a.data(), b.data(), &zero, &h100);
    for (std::size_t j = 0; j < kLength; j++) {
        fused = std::fma(value_of(TensorType::tf32, a[j]), value_of(TensorType::tf32, b[j]), fused);
    }
    EXPECT_NE(a100, h100);
    EXPECT_NE(h100, fused);
    EXPECT_NEAR(a100, fused, 0.05);
    EXPECT_NEAR(h100, fused, 0.05);
}

TEST(TileProduct, KnowsWhatEachArchitectureHas) {
    EXPECT_EQ(simt::tensor_core(61), nullptr);
    EXPECT_TRUE(core_of(75).has(TensorType::f16));
    EXPECT_FALSE(core_of(75).has(TensorType::bf16));
    EXPECT_FALSE(core_of(75).has(TensorType::tf32));
    for (const int capability : {80, 86, 89, 90, 100, 120}) {
        EXPECT_TRUE(core_of(capability).has(TensorType::bf16) && core_of(capability).has(TensorType::tf32)) << capability;
    }
}

TEST(ChosenTensorCore, IsAnH100sUnlessNamed) {
    EXPECT_EQ(simt::choose_tensor_core("").core, simt::tensor_core(90));
    EXPECT_EQ(simt::choose_tensor_core("sm_75").compute_capability, 75);
    EXPECT_EQ(simt::choose_tensor_core("sm_80").core, simt::tensor_core(80));
}

TEST(ChosenTensorCore, ListsKnownOnesWhereTheNameIsNone) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(simt::choose_tensor_core("A100").compute_capability, 90);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "simt: SIMT_TENSOR_CORES=A100: unknown architecture; known ones: sm_70, sm_75, sm_80, sm_86, sm_89, sm_90, "
              "sm_100, sm_120; sm_90 is used\n");
}

}  // namespace
