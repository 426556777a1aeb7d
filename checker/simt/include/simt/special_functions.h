// SPDX-License-Identifier: MIT
//
// Special functions: what a GPU takes more than a multiplication for (COUNTERS.md). The runtime counts each evaluation
// by a CUDA thread. Division is none: an operator has no name by which it could be counted.
#pragma once
#pragma GCC system_header

// Those of the C library: of one double (O) or two (T); with an f behind the name, of floats.
// clang-format off
#define SIMT_SPECIAL_FUNCTIONS(O, T)                                                                  \
    O(exp) O(exp2) O(exp10) O(expm1) O(log) O(log2) O(log10) O(log1p) O(sqrt) O(cbrt)                 \
    O(sin) O(cos) O(tan) O(asin) O(acos) O(atan) O(sinh) O(cosh) O(tanh) O(asinh) O(acosh) O(atanh)   \
    O(erf) O(erfc) O(tgamma) O(lgamma) T(pow) T(atan2) T(hypot)
// clang-format on

namespace simt {

// For a function that is composed of others: the calling thread evaluates one, of a double or of a smaller number. What
// it is composed of is called by the names below, and not counted.
void special_function() noexcept;
void special_function_of_double() noexcept;

namespace uncounted {
#define SIMT_ONE(name) double name(double) noexcept __asm__(#name);
#define SIMT_TWO(name) double name(double, double) noexcept __asm__(#name);
SIMT_SPECIAL_FUNCTIONS(SIMT_ONE, SIMT_TWO)
#undef SIMT_ONE
#undef SIMT_TWO
}  // namespace uncounted

}  // namespace simt
