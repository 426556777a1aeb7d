// SPDX-License-Identifier: MIT
//
// simtcc --arithmetic: makes a kernel's assembly text count its floating-point instructions. Each basic block with such
// instructions begins with a call of the runtime (runtime/counting/arithmetic.h), which is executed as often as they are:
// the counts follow each branch, loop and template.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace simt {

// The flags that the text is compiled with besides those of a checked kernel: the compiler fuses a product and the sum
// that takes it, as nvcc does.
extern const char* const kArithmeticFlags[4];
// The flag of them that a text needs of which operations of doubles alone are counted.
extern const char* const kCallFlag;

// Why this processor cannot run what these flags make; null where it can.
const char* why_no_arithmetic();

// The operations that are counted: of checked kernels only those of doubles, which a kernel of floats has none of.
enum class Counted { all, of_doubles };

// Returns the text with one call, and a table of the block's floating-point instructions that the call leads to, for each
// block that has any. The text comes back unchanged if this processor's instructions are not known.
std::string with_arithmetic_counted(std::string_view assembly, Counted counted = Counted::all);

}  // namespace simt
