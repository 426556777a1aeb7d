// SPDX-License-Identifier: MIT
//
// What simtcc --arithmetic writes into an object (driver/arithmetic.h) and the runtime reads: for each basic block its
// floating-point instructions.
#pragma once

#include <cstdint>

namespace simt {

enum class ArithmeticKind : std::uint32_t {
    fused,      // of floats: a product and a sum
    other,      // of floats: sum, difference, product, quotient, minimum, maximum, comparison
    of_double,  // all of these of doubles
};

struct ArithmeticInstruction {
    std::int32_t end;  // from this number's own address to that after the instruction
    ArithmeticKind kind;
    std::uint32_t operations;  // of a vector more than 1
};

// So many of them follow.
struct ArithmeticBlock {
    std::uint32_t instructions;
};

}  // namespace simt
