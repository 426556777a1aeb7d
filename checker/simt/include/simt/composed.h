// SPDX-License-Identifier: MIT
//
// What CUDA has an instruction or a special function for and is computed here: the arithmetic in this file is not the
// kernel's, and not counted (runtime/base/source.h).
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
SIMT_INLINE double normcdf(double x) {
    simt::special_function_of_double();
    return 0.5 * simt::uncounted::erfc(-x * 0.70710678118654752);
}

// Functions of one number that the C library lacks, in double precision and not counted.
namespace simt::composed {

inline constexpr double kPi = 3.14159265358979324;

// Exact at multiples of a half.
SIMT_INLINE double sinpi(double x) {
    const double turned = std::remainder(x, 2.0);
    const double near = std::fabs(turned) > 0.5 ? std::copysign(1.0, turned) - turned : turned;
    return uncounted::sin(kPi * near);
}
SIMT_INLINE double cospi(double x) {
    return sinpi(0.5 - std::fabs(std::remainder(x, 2.0)));
}

// Numerical Recipes, 6.2.2: a rational guess, then Halley's method.
inline double erfcinv(double x) {
    if (x == 0.0 || x == 2.0) {
        return x == 0.0 ? HUGE_VAL : -HUGE_VAL;
    }
    if (!(x > 0.0 && x < 2.0)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const double tail = x < 1.0 ? x : 2.0 - x;
    const double t = uncounted::sqrt(-2.0 * uncounted::log(tail / 2.0));
    double y = -0.70711 * ((2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)) - t);
    for (int i = 0; i < 3; i++) {
        const double error = uncounted::erfc(y) - tail;
        y += error / (1.12837916709551257 * uncounted::exp(-y * y) - y * error);
    }
    return x < 1.0 ? y : -y;
}
inline double erfinv(double x) {
    if (!(std::fabs(x) < 0.5)) {
        return x < 0.0 ? -erfcinv(1.0 + x) : erfcinv(1.0 - x);
    }
    double y = 0.886226925452758 * x;
    for (int i = 0; i < 4; i++) {
        const double error = uncounted::erf(y) - x;
        y -= error / (1.12837916709551257 * uncounted::exp(-y * y) + y * error);
    }
    return y;
}

// exp(x * x) * erfc(x), without the overflow of the one and the underflow of the other.
inline double erfcx(double x) {
    if (x < 10.0) {
        const double square = x * x, rest = std::fma(x, x, -square);
        return x < -27.0 ? HUGE_VAL : uncounted::exp(square) * (1.0 + rest) * uncounted::erfc(x);
    }
    double sum = 1.0, term = 1.0;
    for (int i = 1; i < 30; i += 2) {
        term *= -i / (2.0 * x * x);
        sum += term;
    }
    return sum / (x * 1.77245385090551603);
}

inline double bessel_i0(double x) {
    return std::cyl_bessel_i(0.0, std::fabs(x));
}
inline double bessel_i1(double x) {
    return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x);
}

}  // namespace simt::composed

#define SIMT_COMPOSED(name, value)                        \
    SIMT_INLINE double name(double x) {                   \
        simt::special_function_of_double();               \
        return simt::composed::value;                     \
    }                                                     \
    SIMT_INLINE float name##f(float single) {             \
        simt::special_function();                         \
        const double x = single;                          \
        return static_cast<float>(simt::composed::value); \
    }
SIMT_COMPOSED(sinpi, sinpi(x))
SIMT_COMPOSED(cospi, cospi(x))
SIMT_COMPOSED(erfinv, erfinv(x))
SIMT_COMPOSED(erfcinv, erfcinv(x))
SIMT_COMPOSED(normcdfinv, erfcinv(2.0 * x) * -1.41421356237309505)
SIMT_COMPOSED(erfcx, erfcx(x))
SIMT_COMPOSED(cyl_bessel_i0, bessel_i0(x))
SIMT_COMPOSED(cyl_bessel_i1, bessel_i1(x))
#undef SIMT_COMPOSED
SIMT_INLINE void sincospi(double x, double* sine, double* cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
SIMT_INLINE void sincospif(float x, float* sine, float* cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}

// As nvcc's headers have it, the plain name takes a float too.
#define SIMT_OF_FLOAT(name)           \
    SIMT_INLINE float name(float x) { \
        return name##f(x);            \
    }
SIMT_OF_FLOAT(rsqrt)
SIMT_OF_FLOAT(rcbrt)
SIMT_OF_FLOAT(normcdf)
SIMT_OF_FLOAT(normcdfinv)
SIMT_OF_FLOAT(sinpi)
SIMT_OF_FLOAT(cospi)
SIMT_OF_FLOAT(erfinv)
SIMT_OF_FLOAT(erfcinv)
SIMT_OF_FLOAT(erfcx)
#undef SIMT_OF_FLOAT

// Lengths of vectors, and their inverses.
#define SIMT_LENGTHS(Real, F)                                             \
    SIMT_INLINE Real norm3d##F(Real a, Real b, Real c) {                  \
        return sqrt##F(a * a + b * b + c * c);                            \
    }                                                                     \
    SIMT_INLINE Real norm4d##F(Real a, Real b, Real c, Real d) {          \
        return sqrt##F(a * a + b * b + c * c + d * d);                    \
    }                                                                     \
    SIMT_INLINE Real rnorm3d##F(Real a, Real b, Real c) {                 \
        return rsqrt##F(a * a + b * b + c * c);                           \
    }                                                                     \
    SIMT_INLINE Real rnorm4d##F(Real a, Real b, Real c, Real d) {         \
        return rsqrt##F(a * a + b * b + c * c + d * d);                   \
    }                                                                     \
    SIMT_INLINE Real rhypot##F(Real a, Real b) {                          \
        return 1 / hypot##F(a, b);                                        \
    }                                                                     \
    SIMT_INLINE Real norm##F(int count, const Real* values) {             \
        Real sum = 0;                                                     \
        for (int i = 0; i < count; i++) { sum += values[i] * values[i]; } \
        return sqrt##F(sum);                                              \
    }                                                                     \
    SIMT_INLINE Real rnorm##F(int count, const Real* values) {            \
        Real sum = 0;                                                     \
        for (int i = 0; i < count; i++) { sum += values[i] * values[i]; } \
        return rsqrt##F(sum);                                             \
    }
SIMT_LENGTHS(double, )
SIMT_LENGTHS(float, f)
#undef SIMT_LENGTHS

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
