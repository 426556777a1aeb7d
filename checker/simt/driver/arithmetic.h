// SPDX-License-Identifier: MIT
//
// simtcc --arithmetic: adds to a kernel's assembly text what counts its floating-point instructions. Each basic block
// that has some calls the runtime where it begins (runtime/counting/arithmetic.h), so an instruction is executed as often as the
// call of its block: what a branch, a loop or a template does, the counts do too.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace simt {

// The flags that the text is compiled with besides those of a checked kernel: the compiler fuses a product and the sum
// that takes it, as nvcc does.
extern const char* const kArithmeticFlags[4];

// Why this processor cannot run what these flags make; null where it can.
const char* why_no_arithmetic();

// One call, and a table of the block's floating-point instructions that the call leads to, for each block that has any.
std::string with_arithmetic_counted(std::string_view assembly);

}  // namespace simt
