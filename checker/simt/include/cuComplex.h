// SPDX-License-Identifier: MIT
//
// Complex numbers as pairs, the real part first.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

// The functions for one precision: F is the letter that ends their names, for floats.
#define SIMT_COMPLEX(Real, Complex, F)                                                  \
    SIMT_INLINE Complex make_##Complex(Real real, Real imaginary) {                     \
        return {real, imaginary};                                                       \
    }                                                                                   \
    SIMT_INLINE Real cuCreal##F(Complex x) {                                            \
        return x.x;                                                                     \
    }                                                                                   \
    SIMT_INLINE Real cuCimag##F(Complex x) {                                            \
        return x.y;                                                                     \
    }                                                                                   \
    SIMT_INLINE Complex cuConj##F(Complex x) {                                          \
        return {x.x, -x.y};                                                             \
    }                                                                                   \
    SIMT_INLINE Complex cuCadd##F(Complex x, Complex y) {                               \
        return {x.x + y.x, x.y + y.y};                                                  \
    }                                                                                   \
    SIMT_INLINE Complex cuCsub##F(Complex x, Complex y) {                               \
        return {x.x - y.x, x.y - y.y};                                                  \
    }                                                                                   \
    SIMT_INLINE Complex cuCmul##F(Complex x, Complex y) {                               \
        return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                          \
    }                                                                                   \
    SIMT_INLINE Complex cuCdiv##F(Complex x, Complex y) { /* scaled against overflow */ \
        const Real scale = 1 / (fabs##F(y.x) + fabs##F(y.y));                           \
        const Complex a = {x.x * scale, x.y * scale}, b = {y.x * scale, y.y * scale};   \
        const Real inverse = 1 / (b.x * b.x + b.y * b.y);                               \
        return {(a.x * b.x + a.y * b.y) * inverse, (a.y * b.x - a.x * b.y) * inverse};  \
    }                                                                                   \
    SIMT_INLINE Real cuCabs##F(Complex x) {                                             \
        return hypot##F(x.x, x.y);                                                      \
    }                                                                                   \
    SIMT_INLINE Complex cuCfma##F(Complex x, Complex y, Complex z) {                    \
        return {x.x * y.x + z.x - x.y * y.y, x.y * y.x + (x.x * y.y + z.y)};            \
    }
SIMT_COMPLEX(float, cuFloatComplex, f)
SIMT_COMPLEX(double, cuDoubleComplex, )
#undef SIMT_COMPLEX

SIMT_INLINE cuComplex make_cuComplex(float real, float imaginary) {
    return {real, imaginary};
}
SIMT_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) {
    return {x.x, x.y};
}
SIMT_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
    return {static_cast<float>(x.x), static_cast<float>(x.y)};
}
