// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/tensor/fragments.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace simt {
namespace {

constexpr int kLaneElementsOfC = 4;

constexpr std::array kInstructions{
    MmaInstruction{"mma.sync.m16n8k4 (tf32)", TensorType::tf32, 4, false},
    MmaInstruction{"mma.sync.m16n8k8 (tf32)", TensorType::tf32, 8, false},
    MmaInstruction{"mma.sync.m16n8k8 (bf16)", TensorType::bf16, 8, false},
    MmaInstruction{"mma.sync.m16n8k16 (bf16)", TensorType::bf16, 16, false},
    MmaInstruction{"mma.sync.m16n8k8 (f16)", TensorType::f16, 8, false},
    MmaInstruction{"mma.sync.m16n8k16 (f16)", TensorType::f16, 16, false},
    MmaInstruction{"mma.sync.m16n8k8 (f16, accumulators too)", TensorType::f16, 8, true},
    MmaInstruction{"mma.sync.m16n8k16 (f16, accumulators too)", TensorType::f16, 16, true},
};

// Copies a lane's registers of A or B to their places, where `place(element)` is an element's. A register's elements are
// neighbours in a row of the matrix, which has kColumns.
template <int kColumns, int kPerRegister, int kRegisters, class Place>
[[gnu::always_inline]] inline void gather(std::uint32_t* matrix, const std::uint32_t* registers, Place place) {
#pragma GCC unroll 4
    for (int r = 0; r < kRegisters; r++) {
        const TilePlace at = place(r * kPerRegister);
        std::uint32_t* const to = matrix + at.row * kColumns + at.column;
        if constexpr (kPerRegister == 1) {
            to[0] = registers[r];
        } else {
            to[0] = registers[r] & 0xffffU;
            to[1] = registers[r] >> 16;
        }
    }
}

template <class Element>
void gather_c(Element* matrix, int lane, const void* registers) {
    Element elements[kLaneElementsOfC];
    std::memcpy(elements, registers, sizeof elements);
    for (int i = 0; i < kLaneElementsOfC; i++) {
        const TilePlace at = place_in_c(lane, i);
        matrix[at.row * kTileColumns + at.column] = elements[i];
    }
}

template <class Element>
void scatter_d(void* registers, int lane, const Element* matrix) {
    Element elements[kLaneElementsOfC];
    for (int i = 0; i < kLaneElementsOfC; i++) {
        const TilePlace at = place_in_c(lane, i);
        elements[i] = matrix[at.row * kTileColumns + at.column];
    }
    std::memcpy(registers, elements, sizeof elements);
}

template <MmaShape kShape>
bool multiply_in_shape(const TensorCore& core, const LanesOfMma& lanes) {
    constexpr MmaInstruction kInstruction = kInstructions[static_cast<std::size_t>(kShape)];
    constexpr int kDepth = kInstruction.k, kPerRegister = kInstruction.elements_per_register();
    using Element = std::conditional_t<kInstruction.has_f16_accumulators, std::uint16_t, float>;
    std::array<std::uint32_t, kTileRows * kDepth> a;
    std::array<std::uint32_t, kTileColumns * kDepth> b;
    std::array<Element, kTileRows * kTileColumns> c;
    if (std::find(lanes.begin(), lanes.end(), nullptr) != lanes.end()) [[unlikely]] {
        a.fill(0);
        b.fill(0);
        c.fill(0);
    }
    std::uint32_t bits = 0;
    for (int lane = 0; lane < 32; lane++) {
        const MmaRegisters* const its = lanes[static_cast<std::size_t>(lane)];
        if (its == nullptr) [[unlikely]] {
            continue;
        }
        gather<kDepth, kPerRegister, kInstruction.registers_of_a()>(
            a.data(), its->a, [&](int element) { return place_in_a(kInstruction, lane, element); });
        gather<kDepth, kPerRegister, kInstruction.registers_of_b()>(
            b.data(), its->b, [&](int element) { return place_in_b(kInstruction, lane, element); });
        gather_c(c.data(), lane, its->c);
        for (int r = 0; r < kInstruction.registers_of_a(); r++) { bits |= its->a[r]; }
        for (int r = 0; r < kInstruction.registers_of_b(); r++) { bits |= its->b[r]; }
    }
    if constexpr (kInstruction.has_f16_accumulators) {
        multiply_tile_f16(core, kTileRows, kTileColumns, kDepth, a.data(), b.data(), c.data(), c.data());
    } else {
        multiply_tile(core, kInstruction.type, kTileRows, kTileColumns, kDepth, a.data(), b.data(), c.data(), c.data());
    }
    for (int lane = 0; lane < 32; lane++) {
        if (lanes[static_cast<std::size_t>(lane)] != nullptr) {
            scatter_d(lanes[static_cast<std::size_t>(lane)]->d, lane, c.data());
        }
    }
    if constexpr (kInstruction.type == TensorType::tf32) {
        return truncates(bits, a, b);
    }
    return false;
}

}  // namespace

const MmaInstruction& instruction_of(MmaShape shape) {
    return kInstructions[static_cast<std::size_t>(shape)];
}

bool multiply_fragments(const TensorCore& core, MmaShape shape, const LanesOfMma& lanes) {
    switch (shape) {
        case MmaShape::m16n8k4_tf32:
            return multiply_in_shape<MmaShape::m16n8k4_tf32>(core, lanes);
        case MmaShape::m16n8k8_tf32:
            return multiply_in_shape<MmaShape::m16n8k8_tf32>(core, lanes);
        case MmaShape::m16n8k8_bf16:
            return multiply_in_shape<MmaShape::m16n8k8_bf16>(core, lanes);
        case MmaShape::m16n8k16_bf16:
            return multiply_in_shape<MmaShape::m16n8k16_bf16>(core, lanes);
        case MmaShape::m16n8k8_f16:
            return multiply_in_shape<MmaShape::m16n8k8_f16>(core, lanes);
        case MmaShape::m16n8k16_f16:
            return multiply_in_shape<MmaShape::m16n8k16_f16>(core, lanes);
        case MmaShape::m16n8k8_f16_f16:
            return multiply_in_shape<MmaShape::m16n8k8_f16_f16>(core, lanes);
        case MmaShape::m16n8k16_f16_f16:
            return multiply_in_shape<MmaShape::m16n8k16_f16_f16>(core, lanes);
    }
    return false;
}

}  // namespace simt
