// SPDX-License-Identifier: MIT
//
// The elements that each lane holds, against the tables of the PTX ISA shape by shape, and products from registers.
#include "checker/simt/runtime/tensor/fragments.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using simt::MmaShape;
using simt::TilePlace;

// The PTX ISA's "Matrix Fragments" of a shape: the places of element i of A and B for g = lane / 4 and q = lane % 4.
struct Layout {
    MmaShape shape;
    int elements_of_a, elements_of_b;
    TilePlace (*a)(int g, int q, int i);
    TilePlace (*b)(int g, int q, int i);  // its column and k
};

constexpr auto kA16 = [](int g, int q, int i) -> TilePlace {
    return {i < 2 || (i >= 4 && i < 6) ? g : g + 8, q * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
};
constexpr auto kB16 = [](int g, int q, int i) -> TilePlace { return {g, q * 2 + (i & 1) + (i >= 2 ? 8 : 0)}; };
constexpr auto kA8 = [](int g, int q, int i) -> TilePlace { return {i < 2 ? g : g + 8, q * 2 + (i & 1)}; };
constexpr auto kB8 = [](int g, int q, int i) -> TilePlace { return {g, q * 2 + i}; };

const std::vector<Layout> kLayouts = {
    {MmaShape::m16n8k4_tf32, 2, 1,
     [](int g, int q, int i) -> TilePlace {
         return {i == 0 ? g : g + 8, q};
     },
     [](int g, int q, int) -> TilePlace {
         return {g, q};
     }},
    {MmaShape::m16n8k8_tf32, 4, 2,
     [](int g, int q, int i) -> TilePlace {
         return {i == 0 || i == 2 ? g : g + 8, i < 2 ? q : q + 4};
     },
     [](int g, int q, int i) -> TilePlace {
         return {g, i == 0 ? q : q + 4};
     }},
    {MmaShape::m16n8k8_bf16, 4, 2, kA8, kB8},
    {MmaShape::m16n8k16_bf16, 8, 4, kA16, kB16},
    {MmaShape::m16n8k8_f16, 4, 2, kA8, kB8},
    {MmaShape::m16n8k16_f16, 8, 4, kA16, kB16},
    {MmaShape::m16n8k8_f16_f16, 4, 2, kA8, kB8},
    {MmaShape::m16n8k16_f16_f16, 8, 4, kA16, kB16},
};

TilePlace place_of_c(int g, int q, int i) {
    return {i < 2 ? g : g + 8, q * 2 + (i & 1)};
}

TEST(Fragments, HoldTheElementsOfThePtxIsa) {
    for (const Layout& layout : kLayouts) {
        const simt::MmaInstruction& instruction = simt::instruction_of(layout.shape);
        const int per_register = instruction.elements_per_register();
        ASSERT_EQ(instruction.registers_of_a() * per_register, layout.elements_of_a) << instruction.name;
        ASSERT_EQ(instruction.registers_of_b() * per_register, layout.elements_of_b) << instruction.name;
        for (int lane = 0; lane < 32; lane++) {
            for (int i = 0; i < layout.elements_of_a; i++) {
                EXPECT_EQ(simt::place_in_a(instruction, lane, i), layout.a(lane >> 2, lane & 3, i))
                    << instruction.name << ", A, lane " << lane << ", element " << i;
            }
            for (int i = 0; i < layout.elements_of_b; i++) {
                EXPECT_EQ(simt::place_in_b(instruction, lane, i), layout.b(lane >> 2, lane & 3, i))
                    << instruction.name << ", B, lane " << lane << ", element " << i;
            }
            for (int i = 0; i < 4; i++) {
                EXPECT_EQ(simt::place_in_c(lane, i), place_of_c(lane >> 2, lane & 3, i)) << "lane " << lane;
            }
        }
    }
}

TEST(Fragments, HoldEachElementOnce) {
    for (const Layout& layout : kLayouts) {
        const simt::MmaInstruction& instruction = simt::instruction_of(layout.shape);
        std::set<std::pair<int, int>> a, b, c;
        for (int lane = 0; lane < 32; lane++) {
            for (int i = 0; i < layout.elements_of_a; i++) {
                const TilePlace at = simt::place_in_a(instruction, lane, i);
                a.emplace(at.row, at.column);
            }
            for (int i = 0; i < layout.elements_of_b; i++) {
                const TilePlace at = simt::place_in_b(instruction, lane, i);
                b.emplace(at.row, at.column);
            }
            for (int i = 0; i < 4; i++) { c.emplace(simt::place_in_c(lane, i).row, simt::place_in_c(lane, i).column); }
        }
        const auto depth = static_cast<std::size_t>(instruction.k);
        EXPECT_EQ(a.size(), 16 * depth) << instruction.name;
        EXPECT_EQ(b.size(), 8 * depth) << instruction.name;
        EXPECT_EQ(c.size(), 16U * 8U);
    }
}

// The bits of a small whole number.
std::uint32_t bits_of(simt::TensorType type, int number) {
    std::uint32_t bits = 0;
    const auto value = static_cast<float>(number);
    std::memcpy(&bits, &value, sizeof bits);
    if (type == simt::TensorType::bf16) {
        return bits >> 16;
    }
    if (type == simt::TensorType::tf32 || number == 0) {
        return bits;
    }
    return (bits >> 16 & 0x8000U) | ((bits >> 13 & 0x3ffffU) - (112U << 10));
}

struct Warp {
    std::array<std::array<std::uint32_t, 4>, 32> a{}, b{}, c{};
    std::array<simt::MmaRegisters, 32> registers{};
    simt::LanesOfMma lanes{};

    Warp() {
        for (std::size_t lane = 0; lane < 32; lane++) {
            registers[lane] = {a[lane].data(), b[lane].data(), c[lane].data(), c[lane].data()};
            lanes[lane] = &registers[lane];
        }
    }
};

int element_of_a(int m, int k) {
    return (3 * m + 5 * k) % 7 - 3;
}
int element_of_b(int k, int n) {
    return (2 * k + 3 * n) % 5 - 2;
}
int element_of_c(int m, int n) {
    return m - 2 * n;
}

void set_element(std::array<std::uint32_t, 4>& registers, int per_register, int i, std::uint32_t bits) {
    registers[static_cast<std::size_t>(i / per_register)] |= bits << (16 * (i % per_register));
}

TEST(MultiplyFragments, GivesTheProductOfEachShape) {
    for (const Layout& layout : kLayouts) {
        const simt::MmaInstruction& instruction = simt::instruction_of(layout.shape);
        const int per_register = instruction.elements_per_register(),
                  per_register_of_c = instruction.has_f16_accumulators ? 2 : 1;
        const simt::TensorType type_of_c =
            instruction.has_f16_accumulators ? simt::TensorType::f16 : simt::TensorType::tf32;
        Warp warp;
        for (int lane = 0; lane < 32; lane++) {
            const int g = lane / 4, q = lane % 4;
            const auto at = static_cast<std::size_t>(lane);
            for (int i = 0; i < layout.elements_of_a; i++) {
                const TilePlace place = layout.a(g, q, i);
                set_element(warp.a[at], per_register, i,
                            bits_of(instruction.type, element_of_a(place.row, place.column)));
            }
            for (int i = 0; i < layout.elements_of_b; i++) {
                const TilePlace place = layout.b(g, q, i);
                set_element(warp.b[at], per_register, i,
                            bits_of(instruction.type, element_of_b(place.column, place.row)));
            }
            for (int i = 0; i < 4; i++) {
                const TilePlace place = place_of_c(g, q, i);
                set_element(warp.c[at], per_register_of_c, i,
                            bits_of(type_of_c, element_of_c(place.row, place.column)));
            }
        }
        ASSERT_FALSE(simt::multiply_fragments(*simt::tensor_core(90), layout.shape, warp.lanes));
        for (int lane = 0; lane < 32; lane++) {
            std::array<std::uint32_t, 4> expected{};
            for (int i = 0; i < 4; i++) {
                const TilePlace place = place_of_c(lane / 4, lane % 4, i);
                int sum = element_of_c(place.row, place.column);
                for (int k = 0; k < instruction.k; k++) {
                    sum += element_of_a(place.row, k) * element_of_b(k, place.column);
                }
                set_element(expected, per_register_of_c, i, bits_of(type_of_c, sum));
            }
            EXPECT_EQ(warp.c[static_cast<std::size_t>(lane)], expected) << instruction.name << ", lane " << lane;
        }
    }
}

TEST(MultiplyFragments, TakesAMissingLaneForZeros) {
    Warp warp;
    for (std::size_t lane = 0; lane < 32; lane++) {
        warp.a[lane].fill(bits_of(simt::TensorType::tf32, 1));
        warp.b[lane].fill(bits_of(simt::TensorType::tf32, 1));
    }
    warp.lanes[3] = nullptr;  // A's rows 0 and 8 at k = 3 and 7, and B's column 0 there
    simt::multiply_fragments(*simt::tensor_core(90), MmaShape::m16n8k8_tf32, warp.lanes);
    const std::uint32_t six = bits_of(simt::TensorType::tf32, 6), eight = bits_of(simt::TensorType::tf32, 8);
    EXPECT_EQ(warp.c[0], (std::array{six, six, six, six}));      // rows 0 and 8
    EXPECT_EQ(warp.c[4], (std::array{six, eight, six, eight}));  // rows 1 and 9, columns 0 and 1
    EXPECT_EQ(warp.c[3], (std::array<std::uint32_t, 4>{}));      // it gets no results
}

TEST(MultiplyFragments, SaysThatTf32Truncates) {
    Warp warp;
    warp.b[31][1] = 0x3f801000;
    EXPECT_TRUE(simt::multiply_fragments(*simt::tensor_core(90), MmaShape::m16n8k8_tf32, warp.lanes));
    warp.b[31][1] = 0x3f802000;
    EXPECT_FALSE(simt::multiply_fragments(*simt::tensor_core(90), MmaShape::m16n8k8_tf32, warp.lanes));
    EXPECT_FALSE(simt::multiply_fragments(*simt::tensor_core(90), MmaShape::m16n8k8_bf16, warp.lanes));
}

}  // namespace
