// SPDX-License-Identifier: MIT
//
// Mathematics that CUDA has and the C library has not, and the fast forms, which are as accurate here as the plain ones.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "../vector_types.h"

// The C library's functions without std::, as CUDA gives them.
using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

#define SIMT_INLINE __attribute__((always_inline)) inline

constexpr int min(int a, int b) {
    return b < a ? b : a;
}
constexpr int max(int a, int b) {
    return a < b ? b : a;
}
constexpr unsigned int min(unsigned int a, unsigned int b) {
    return b < a ? b : a;
}
constexpr unsigned int max(unsigned int a, unsigned int b) {
    return a < b ? b : a;
}
constexpr long min(long a, long b) {
    return b < a ? b : a;
}
constexpr long max(long a, long b) {
    return a < b ? b : a;
}
constexpr unsigned long min(unsigned long a, unsigned long b) {
    return b < a ? b : a;
}
constexpr unsigned long max(unsigned long a, unsigned long b) {
    return a < b ? b : a;
}
constexpr long long min(long long a, long long b) {
    return b < a ? b : a;
}
constexpr long long max(long long a, long long b) {
    return a < b ? b : a;
}
constexpr unsigned long long min(unsigned long long a, unsigned long long b) {
    return b < a ? b : a;
}
constexpr unsigned long long max(unsigned long long a, unsigned long long b) {
    return a < b ? b : a;
}
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

SIMT_INLINE float rsqrtf(float x) {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}
SIMT_INLINE double rsqrt(double x) {
    return 1.0 / std::sqrt(x);
}
SIMT_INLINE float rcbrtf(float x) {
    return static_cast<float>(1.0 / std::cbrt(static_cast<double>(x)));
}
SIMT_INLINE double rcbrt(double x) {
    return 1.0 / std::cbrt(x);
}
SIMT_INLINE float normcdff(float x) {
    return static_cast<float>(0.5 * std::erfc(-static_cast<double>(x) * 0.70710678118654752));
}
SIMT_INLINE float norm3df(float a, float b, float c) {
    return std::sqrt(a * a + b * b + c * c);
}
SIMT_INLINE float sinpif(float x) {
    return static_cast<float>(std::sin(3.14159265358979324 * std::remainder(static_cast<double>(x), 2.0)));
}
SIMT_INLINE float cospif(float x) {
    return static_cast<float>(std::cos(3.14159265358979324 * std::remainder(static_cast<double>(x), 2.0)));
}

SIMT_INLINE float __expf(float x) {
    return expf(x);
}
SIMT_INLINE float __logf(float x) {
    return logf(x);
}
SIMT_INLINE float __log2f(float x) {
    return log2f(x);
}
SIMT_INLINE float __log10f(float x) {
    return log10f(x);
}
SIMT_INLINE float __sinf(float x) {
    return sinf(x);
}
SIMT_INLINE float __cosf(float x) {
    return cosf(x);
}
SIMT_INLINE float __tanf(float x) {
    return tanf(x);
}
SIMT_INLINE float __exp10f(float x) {
    return static_cast<float>(std::pow(10.0, static_cast<double>(x)));
}
SIMT_INLINE float __tanhf(float x) {
    return tanhf(x);
}
SIMT_INLINE float __fsqrt_rn(float x) {
    return sqrtf(x);
}
SIMT_INLINE double __dsqrt_rn(double x) {
    return sqrt(x);
}
SIMT_INLINE float __powf(float x, float y) {
    return powf(x, y);
}
SIMT_INLINE void __sincosf(float x, float* sine, float* cosine) {
    *sine = sinf(x);
    *cosine = cosf(x);
}
SIMT_INLINE float __fdividef(float x, float y) {
    return x / y;
}
SIMT_INLINE float fdividef(float x, float y) {
    return x / y;
}
SIMT_INLINE float __frcp_rn(float x) {
    return 1.0F / x;
}
SIMT_INLINE float __frsqrt_rn(float x) {
    return rsqrtf(x);
}
SIMT_INLINE float __saturatef(float x) {
    return x > 0.0F ? (x < 1.0F ? x : 1.0F) : 0.0F;
}
SIMT_INLINE float __fadd_rn(float x, float y) {
    return x + y;
}
SIMT_INLINE float __fsub_rn(float x, float y) {
    return x - y;
}
SIMT_INLINE float __fmul_rn(float x, float y) {
    return x * y;
}
SIMT_INLINE float __fdiv_rn(float x, float y) {
    return x / y;
}
SIMT_INLINE float __fmaf_rn(float x, float y, float z) {
    return fmaf(x, y, z);
}
SIMT_INLINE double __dadd_rn(double x, double y) {
    return x + y;
}
SIMT_INLINE double __dmul_rn(double x, double y) {
    return x * y;
}
SIMT_INLINE double __ddiv_rn(double x, double y) {
    return x / y;
}
SIMT_INLINE double __fma_rn(double x, double y, double z) {
    return fma(x, y, z);
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
SIMT_INLINE int __float2int_rn(float x) {
    return simt::to_integer<int>(std::nearbyint(x));
}
SIMT_INLINE int __float2int_rz(float x) {
    return simt::to_integer<int>(std::trunc(x));
}
SIMT_INLINE int __float2int_ru(float x) {
    return simt::to_integer<int>(std::ceil(x));
}
SIMT_INLINE int __float2int_rd(float x) {
    return simt::to_integer<int>(std::floor(x));
}
SIMT_INLINE unsigned int __float2uint_rn(float x) {
    return simt::to_integer<unsigned int>(std::nearbyint(x));
}
SIMT_INLINE unsigned int __float2uint_rz(float x) {
    return simt::to_integer<unsigned int>(std::trunc(x));
}
SIMT_INLINE unsigned int __float2uint_ru(float x) {
    return simt::to_integer<unsigned int>(std::ceil(x));
}
SIMT_INLINE unsigned int __float2uint_rd(float x) {
    return simt::to_integer<unsigned int>(std::floor(x));
}
SIMT_INLINE long long __float2ll_rn(float x) {
    return simt::to_integer<long long>(std::nearbyint(x));
}
SIMT_INLINE long long __float2ll_rz(float x) {
    return simt::to_integer<long long>(std::trunc(x));
}
SIMT_INLINE long long __float2ll_ru(float x) {
    return simt::to_integer<long long>(std::ceil(x));
}
SIMT_INLINE long long __float2ll_rd(float x) {
    return simt::to_integer<long long>(std::floor(x));
}
SIMT_INLINE unsigned long long __float2ull_rn(float x) {
    return simt::to_integer<unsigned long long>(std::nearbyint(x));
}
SIMT_INLINE unsigned long long __float2ull_rz(float x) {
    return simt::to_integer<unsigned long long>(std::trunc(x));
}
SIMT_INLINE unsigned long long __float2ull_ru(float x) {
    return simt::to_integer<unsigned long long>(std::ceil(x));
}
SIMT_INLINE unsigned long long __float2ull_rd(float x) {
    return simt::to_integer<unsigned long long>(std::floor(x));
}
SIMT_INLINE int __double2int_rn(double x) {
    return simt::to_integer<int>(std::nearbyint(x));
}
SIMT_INLINE int __double2int_rz(double x) {
    return simt::to_integer<int>(std::trunc(x));
}
SIMT_INLINE int __double2int_ru(double x) {
    return simt::to_integer<int>(std::ceil(x));
}
SIMT_INLINE int __double2int_rd(double x) {
    return simt::to_integer<int>(std::floor(x));
}
SIMT_INLINE unsigned int __double2uint_rn(double x) {
    return simt::to_integer<unsigned int>(std::nearbyint(x));
}
SIMT_INLINE unsigned int __double2uint_rz(double x) {
    return simt::to_integer<unsigned int>(std::trunc(x));
}
SIMT_INLINE unsigned int __double2uint_ru(double x) {
    return simt::to_integer<unsigned int>(std::ceil(x));
}
SIMT_INLINE unsigned int __double2uint_rd(double x) {
    return simt::to_integer<unsigned int>(std::floor(x));
}
SIMT_INLINE long long __double2ll_rn(double x) {
    return simt::to_integer<long long>(std::nearbyint(x));
}
SIMT_INLINE long long __double2ll_rz(double x) {
    return simt::to_integer<long long>(std::trunc(x));
}
SIMT_INLINE long long __double2ll_ru(double x) {
    return simt::to_integer<long long>(std::ceil(x));
}
SIMT_INLINE long long __double2ll_rd(double x) {
    return simt::to_integer<long long>(std::floor(x));
}
SIMT_INLINE unsigned long long __double2ull_rn(double x) {
    return simt::to_integer<unsigned long long>(std::nearbyint(x));
}
SIMT_INLINE unsigned long long __double2ull_rz(double x) {
    return simt::to_integer<unsigned long long>(std::trunc(x));
}
SIMT_INLINE unsigned long long __double2ull_ru(double x) {
    return simt::to_integer<unsigned long long>(std::ceil(x));
}
SIMT_INLINE unsigned long long __double2ull_rd(double x) {
    return simt::to_integer<unsigned long long>(std::floor(x));
}
SIMT_INLINE float __int2float_rn(int x) {
    return static_cast<float>(x);
}
SIMT_INLINE double __int2double_rn(int x) {
    return static_cast<double>(x);
}
SIMT_INLINE float __uint2float_rn(unsigned int x) {
    return static_cast<float>(x);
}
SIMT_INLINE double __uint2double_rn(unsigned int x) {
    return static_cast<double>(x);
}
SIMT_INLINE float __ll2float_rn(long long x) {
    return static_cast<float>(x);
}
SIMT_INLINE double __ll2double_rn(long long x) {
    return static_cast<double>(x);
}
SIMT_INLINE float __ull2float_rn(unsigned long long x) {
    return static_cast<float>(x);
}
SIMT_INLINE double __ull2double_rn(unsigned long long x) {
    return static_cast<double>(x);
}
SIMT_INLINE float __double2float_rn(double x) {
    return static_cast<float>(x);
}
