// SPDX-License-Identifier: MIT
//
// What CUDA has an instruction or a special function for and is computed here: the arithmetic in this file is not the
// kernel's, and not counted (runtime/source.h).
#pragma once
#pragma GCC system_header

#include <math.h>

#include <cmath>
#include <limits>

#include "bits_of.h"
#include "special_functions.h"

SIMT_INLINE float rsqrtf(float x) {
    simt::special_function();
    return static_cast<float>(1.0 / simt::uncounted::sqrt(x));
}
SIMT_INLINE double rsqrt(double x) {
    simt::special_function_of_double();
    return 1.0 / simt::uncounted::sqrt(x);
}
SIMT_INLINE float rcbrtf(float x) {
    simt::special_function();
    return static_cast<float>(1.0 / simt::uncounted::cbrt(x));
}
SIMT_INLINE double rcbrt(double x) {
    simt::special_function_of_double();
    return 1.0 / simt::uncounted::cbrt(x);
}
SIMT_INLINE float normcdff(float x) {
    simt::special_function();
    return static_cast<float>(0.5 * simt::uncounted::erfc(-static_cast<double>(x) * 0.70710678118654752));
}
SIMT_INLINE float norm3df(float a, float b, float c) {
    return sqrtf(a * a + b * b + c * c);
}
SIMT_INLINE float sinpif(float x) {
    simt::special_function();
    return static_cast<float>(simt::uncounted::sin(3.14159265358979324 * std::remainder(static_cast<double>(x), 2.0)));
}
SIMT_INLINE float cospif(float x) {
    simt::special_function();
    return static_cast<float>(simt::uncounted::cos(3.14159265358979324 * std::remainder(static_cast<double>(x), 2.0)));
}

// Conversions: rn to the nearest even, rz towards zero, ru up, rd down; what does not fit saturates, NaN is 0.
namespace simt {
template <class Integer, class Real>
constexpr Integer to_integer(Real rounded) {
    constexpr Integer lowest = std::numeric_limits<Integer>::min();
    constexpr Integer highest = std::numeric_limits<Integer>::max();
    if (rounded != rounded) {
        return 0;
    }
    if (rounded <= static_cast<Real>(lowest)) {
        return lowest;
    }
    return rounded >= static_cast<Real>(highest) ? highest : static_cast<Integer>(rounded);
}
}  // namespace simt
#define SIMT_TO_INTEGER(name, Integer, Real)                 \
    SIMT_INLINE Integer name##_rn(Real x) {                  \
        return simt::to_integer<Integer>(std::nearbyint(x)); \
    }                                                        \
    SIMT_INLINE Integer name##_rz(Real x) {                  \
        return simt::to_integer<Integer>(std::trunc(x));     \
    }                                                        \
    SIMT_INLINE Integer name##_ru(Real x) {                  \
        return simt::to_integer<Integer>(std::ceil(x));      \
    }                                                        \
    SIMT_INLINE Integer name##_rd(Real x) {                  \
        return simt::to_integer<Integer>(std::floor(x));     \
    }
SIMT_TO_INTEGER(__float2int, int, float)
SIMT_TO_INTEGER(__float2uint, unsigned int, float)
SIMT_TO_INTEGER(__float2ll, long long, float)
SIMT_TO_INTEGER(__float2ull, unsigned long long, float)
SIMT_TO_INTEGER(__double2int, int, double)
SIMT_TO_INTEGER(__double2uint, unsigned int, double)
SIMT_TO_INTEGER(__double2ll, long long, double)
SIMT_TO_INTEGER(__double2ull, unsigned long long, double)
#undef SIMT_TO_INTEGER
