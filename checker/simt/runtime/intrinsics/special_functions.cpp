// SPDX-License-Identifier: MIT
//
// The C library's special functions, as code that simtcc compiles calls them: counted where a CUDA thread of a launch
// that is counted evaluates them.
#include "checker/simt/include/simt/special_functions.h"

#include <cmath>

#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/requests/traffic_trace.h"

namespace simt {
namespace {

enum class Precision : std::uintptr_t { at_most_float, of_double };

[[gnu::always_inline]] inline void note(Precision precision, std::size_t evaluations, const void* site) {
    if (hot.trace.next != nullptr && running_lane() != nullptr) [[unlikely]] {
        note_in_trace(packed(static_cast<std::uintptr_t>(precision), TraceKind::special, evaluations), site);
    }
}

}  // namespace

#define SIMT_SITE __builtin_return_address(0)

void special_function() noexcept {
    note(Precision::at_most_float, 1, SIMT_SITE);
}
void special_function_of_double() noexcept {
    note(Precision::of_double, 1, SIMT_SITE);
}

extern "C" {

#define SIMT_ONE(name)                                \
    double simt_##name(double x) noexcept {           \
        note(Precision::of_double, 1, SIMT_SITE);     \
        return ::name(x);                             \
    }                                                 \
    float simt_##name##f(float x) noexcept {          \
        note(Precision::at_most_float, 1, SIMT_SITE); \
        return ::name##f(x);                          \
    }
#define SIMT_TWO(name)                                \
    double simt_##name(double x, double y) noexcept { \
        note(Precision::of_double, 1, SIMT_SITE);     \
        return ::name(x, y);                          \
    }                                                 \
    float simt_##name##f(float x, float y) noexcept { \
        note(Precision::at_most_float, 1, SIMT_SITE); \
        return ::name##f(x, y);                       \
    }
SIMT_SPECIAL_FUNCTIONS(SIMT_ONE, SIMT_TWO)

void simt_sincos(double x, double* sine, double* cosine) noexcept {
    note(Precision::of_double, 2, SIMT_SITE);
    ::sincos(x, sine, cosine);
}
void simt_sincosf(float x, float* sine, float* cosine) noexcept {
    note(Precision::at_most_float, 2, SIMT_SITE);
    ::sincosf(x, sine, cosine);
}

}  // extern "C"

}  // namespace simt
