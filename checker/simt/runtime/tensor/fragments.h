// SPDX-License-Identifier: MIT
//
// The elements of a warp's matrices that each lane holds (PTX ISA, "Matrix Fragments for mma.m16n8k8" and others).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "checker/simt/include/simt/tensor.h"
#include "checker/simt/runtime/tensor/tile_product.h"

namespace simt {

inline constexpr int kTileRows = 16, kTileColumns = 8;
inline constexpr std::uint32_t kBelowTf32 = 0x1fff;  // bits of a float's fraction that TF32 lacks

// Returns true if TF32 has another value for a float's bits. NaNs stay NaNs: cvt.rna.tf32.f32 gives 0x7fffffff.
constexpr bool is_truncated(std::uint32_t bits) {
    return (bits & kBelowTf32) != 0 && (bits & 0x7fffffff) < 0x7f800000;
}
// Returns true if TF32 has another value for an element of A or B. `bits` are those of all of them together: most often they
// say no at once.
template <class A, class B>
bool truncates(std::uint32_t bits, const A& a, const B& b) {
    return (bits & kBelowTf32) != 0 && (std::ranges::any_of(a, is_truncated) || std::ranges::any_of(b, is_truncated));
}

// An mma.sync instruction.
struct MmaInstruction {
    const char* name;  // in findings
    TensorType type;   // A and B have it
    int k;
    bool has_f16_accumulators;

    constexpr int elements_per_register() const { return type == TensorType::tf32 ? 1 : 2; }
    constexpr int registers_of_a() const { return kTileRows * k / 32 / elements_per_register(); }
    constexpr int registers_of_b() const { return kTileColumns * k / 32 / elements_per_register(); }
};
const MmaInstruction& instruction_of(MmaShape shape);

struct TilePlace {
    int row, column;
    bool operator==(const TilePlace&) const = default;
};
// The place in A (m, k), in B's columns (n, k), and in C (m, n) of an element of a lane. Elements are counted from
// the low half of the first register on.
constexpr TilePlace place_in_a(const MmaInstruction& instruction, int lane, int element) {
    const int per_register = instruction.elements_per_register(), number = element / per_register;
    return {lane / 4 + 8 * (number % 2), (lane % 4 + 4 * (number / 2)) * per_register + element % per_register};
}
constexpr TilePlace place_in_b(const MmaInstruction& instruction, int lane, int element) {
    const int per_register = instruction.elements_per_register(), number = element / per_register;
    return {lane / 4, (lane % 4 + 4 * number) * per_register + element % per_register};
}
constexpr TilePlace place_in_c(int lane, int element) {
    return {lane / 4 + 8 * (element / 2), 2 * (lane % 4) + element % 2};
}

// The registers that a lane hands to an mma.sync.
struct MmaRegisters {
    const std::uint32_t* a;
    const std::uint32_t* b;
    const void* c;
    void* d;
};
// Null: the lane is not there.
using LanesOfMma = std::array<const MmaRegisters*, 32>;

// Computes d = a b + c from the lanes' registers. The elements of a lane that is not there are 0. Returns true if mma
// truncates an element of A or B to TF32.
bool multiply_fragments(const TensorCore& core, MmaShape shape, const LanesOfMma& lanes);

}  // namespace simt
