// SPDX-License-Identifier: MIT
//
// Mathematical functions that CUDA has and the C library lacks, and the fast forms, which are as accurate here as the
// plain ones.
#pragma once
#pragma GCC system_header

#include <math.h>  // the C library's functions without std::, for each type, as CUDA gives them

#include <cstdint>
#include <cstdlib>

#include "../vector_types.h"
#include "bits_of.h"
#include "composed.h"
#include "rounding.h"
#include "special_functions.h"

#define SIMT_MIN_MAX(T)         \
    constexpr T min(T a, T b) { \
        return b < a ? b : a;   \
    }                           \
    constexpr T max(T a, T b) { \
        return a < b ? b : a;   \
    }
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned int)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
#undef SIMT_MIN_MAX
constexpr unsigned int min(unsigned int a, int b) {
    return min(static_cast<unsigned int>(a), static_cast<unsigned int>(b));
}
constexpr unsigned int max(unsigned int a, int b) {
    return max(static_cast<unsigned int>(a), static_cast<unsigned int>(b));
}
constexpr unsigned int min(int a, unsigned int b) {
    return min(static_cast<unsigned int>(a), static_cast<unsigned int>(b));
}
constexpr unsigned int max(int a, unsigned int b) {
    return max(static_cast<unsigned int>(a), static_cast<unsigned int>(b));
}
constexpr unsigned int umin(unsigned int a, unsigned int b) {
    return min(a, b);
}
constexpr unsigned int umax(unsigned int a, unsigned int b) {
    return max(a, b);
}
constexpr long long llmin(long long a, long long b) {
    return min(a, b);
}
constexpr long long llmax(long long a, long long b) {
    return max(a, b);
}
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return min(a, b);
}
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return max(a, b);
}
// fmin and fmax: a NaN loses.
SIMT_INLINE float min(float a, float b) {
    return fminf(a, b);
}
SIMT_INLINE float max(float a, float b) {
    return fmaxf(a, b);
}
SIMT_INLINE double min(double a, double b) {
    return fmin(a, b);
}
SIMT_INLINE double max(double a, double b) {
    return fmax(a, b);
}
SIMT_INLINE double min(float a, double b) {
    return fmin(a, b);
}
SIMT_INLINE double min(double a, float b) {
    return fmin(a, b);
}
SIMT_INLINE double max(float a, double b) {
    return fmax(a, b);
}
SIMT_INLINE double max(double a, float b) {
    return fmax(a, b);
}

// A sum or a product of its own: the compiler may fuse others, as nvcc does, and these neither does.
#if __GNUC__ >= 12
#define SIMT_UNFUSED(value) __builtin_assoc_barrier(value)
#else  // an instruction that is none stands between
#ifdef __x86_64__
#define SIMT_REGISTER "+x"
#else
#define SIMT_REGISTER "+w"
#endif
namespace simt {
template <class Real>
SIMT_INLINE Real unfused(Real value) {
    asm("" : SIMT_REGISTER(value));
    return value;
}
}  // namespace simt
#undef SIMT_REGISTER
#define SIMT_UNFUSED(value) simt::unfused(value)
#endif
#define SIMT_FUNCTION(Real, name, parameters, value) \
    SIMT_INLINE Real name parameters {               \
        return value;                                \
    }
SIMT_FUNCTION(float, __expf, (float x), expf(x))
SIMT_FUNCTION(float, __logf, (float x), logf(x))
SIMT_FUNCTION(float, __log2f, (float x), log2f(x))
SIMT_FUNCTION(float, __log10f, (float x), log10f(x))
SIMT_FUNCTION(float, __sinf, (float x), sinf(x))
SIMT_FUNCTION(float, __cosf, (float x), cosf(x))
SIMT_FUNCTION(float, __tanf, (float x), tanf(x))
SIMT_FUNCTION(float, __exp10f, (float x), exp10f(x))
SIMT_FUNCTION(float, __tanhf, (float x), tanhf(x))
SIMT_FUNCTION(float, __fsqrt_rn, (float x), sqrtf(x))
SIMT_FUNCTION(double, __dsqrt_rn, (double x), sqrt(x))
SIMT_FUNCTION(float, __powf, (float x, float y), powf(x, y))
SIMT_FUNCTION(float, __fdividef, (float x, float y), x / y)
SIMT_FUNCTION(float, fdividef, (float x, float y), x / y)
SIMT_FUNCTION(double, fdivide, (double x, double y), x / y)
SIMT_FUNCTION(float, fdivide, (float x, float y), x / y)
SIMT_FUNCTION(float, __frcp_rn, (float x), 1.0F / x)
SIMT_FUNCTION(float, __frsqrt_rn, (float x), rsqrtf(x))
SIMT_FUNCTION(float, __saturatef, (float x), x > 0.0F ? (x < 1.0F ? x : 1.0F) : 0.0F)
SIMT_FUNCTION(float, __fadd_rn, (float x, float y), SIMT_UNFUSED(x + y))
SIMT_FUNCTION(float, __fsub_rn, (float x, float y), SIMT_UNFUSED(x - y))
SIMT_FUNCTION(float, __fmul_rn, (float x, float y), SIMT_UNFUSED(x* y))
SIMT_FUNCTION(float, __fdiv_rn, (float x, float y), x / y)
SIMT_FUNCTION(float, __fmaf_rn, (float x, float y, float z), fmaf(x, y, z))
SIMT_FUNCTION(double, __dadd_rn, (double x, double y), SIMT_UNFUSED(x + y))
SIMT_FUNCTION(double, __dsub_rn, (double x, double y), SIMT_UNFUSED(x - y))
SIMT_FUNCTION(double, __dmul_rn, (double x, double y), SIMT_UNFUSED(x* y))
SIMT_FUNCTION(double, __ddiv_rn, (double x, double y), x / y)
SIMT_FUNCTION(double, __drcp_rn, (double x), 1.0 / x)
SIMT_FUNCTION(double, __fma_rn, (double x, double y, double z), fma(x, y, z))
SIMT_FUNCTION(float, __fmaf_ieee_rn, (float x, float y, float z), fmaf(x, y, z))
SIMT_FUNCTION(float, __fmaf_ieee_rd, (float x, float y, float z), __fmaf_rd(x, y, z))
SIMT_FUNCTION(float, __fmaf_ieee_ru, (float x, float y, float z), __fmaf_ru(x, y, z))
SIMT_FUNCTION(float, __fmaf_ieee_rz, (float x, float y, float z), __fmaf_rz(x, y, z))
#undef SIMT_FUNCTION
#undef SIMT_UNFUSED
SIMT_INLINE void __sincosf(float x, float* sine, float* cosine) {
    sincosf(x, sine, cosine);
}

#define SIMT_TO_REAL(name, Real, Number) \
    SIMT_INLINE Real name(Number x) {    \
        return static_cast<Real>(x);     \
    }
SIMT_TO_REAL(__int2float_rn, float, int)
SIMT_TO_REAL(__int2double_rn, double, int)
SIMT_TO_REAL(__uint2float_rn, float, unsigned int)
SIMT_TO_REAL(__uint2double_rn, double, unsigned int)
SIMT_TO_REAL(__ll2float_rn, float, long long)
SIMT_TO_REAL(__ll2double_rn, double, long long)
SIMT_TO_REAL(__ull2float_rn, float, unsigned long long)
SIMT_TO_REAL(__ull2double_rn, double, unsigned long long)
SIMT_TO_REAL(__double2float_rn, float, double)
#undef SIMT_TO_REAL
