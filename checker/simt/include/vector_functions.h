// SPDX-License-Identifier: MIT
//
// make_float4 and its kin. Not constexpr, as CUDA's are not: g++ would store a float4 of constants element by element,
// where it is one access.
#pragma once
#pragma GCC system_header

#include "vector_types.h"

#define SIMT_MAKE(name, T)                              \
    inline name##1 make_##name##1(T x) {                \
        return {x};                                     \
    }                                                   \
    inline name##2 make_##name##2(T x, T y) {           \
        return {x, y};                                  \
    }                                                   \
    inline name##3 make_##name##3(T x, T y, T z) {      \
        return {x, y, z};                               \
    }                                                   \
    inline name##4 make_##name##4(T x, T y, T z, T w) { \
        return {x, y, z, w};                            \
    }
SIMT_MAKE(char, signed char)
SIMT_MAKE(uchar, unsigned char)
SIMT_MAKE(short, short)
SIMT_MAKE(ushort, unsigned short)
SIMT_MAKE(int, int)
SIMT_MAKE(uint, unsigned int)
SIMT_MAKE(long, long)
SIMT_MAKE(ulong, unsigned long)
SIMT_MAKE(longlong, long long)
SIMT_MAKE(ulonglong, unsigned long long)
SIMT_MAKE(float, float)
SIMT_MAKE(double, double)
#undef SIMT_MAKE
