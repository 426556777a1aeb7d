// SPDX-License-Identifier: MIT
//
// CUDA's vector types with CUDA's alignment: a float4 is one 16-byte access.
#pragma once
#pragma GCC system_header

#define __VECTOR_TYPES_H__

// The vectors of 1, 2, 3 and 4 numbers. Those of 2 and 4 are aligned to their size, but to 16 bytes at most.
#define SIMT_VECTORS(name, T)                                    \
    struct name##1 {                                             \
        T x;                                                     \
    };                                                           \
    struct alignas(2 * sizeof(T)) name##2 {                      \
        T x, y;                                                  \
    };                                                           \
    struct name##3 {                                             \
        T x, y, z;                                               \
    };                                                           \
    struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 { \
        T x, y, z, w;                                            \
    };
SIMT_VECTORS(char, signed char)
SIMT_VECTORS(uchar, unsigned char)
SIMT_VECTORS(short, short)
SIMT_VECTORS(ushort, unsigned short)
SIMT_VECTORS(int, int)
SIMT_VECTORS(uint, unsigned int)
SIMT_VECTORS(long, long)
SIMT_VECTORS(ulong, unsigned long)
SIMT_VECTORS(longlong, long long)
SIMT_VECTORS(ulonglong, unsigned long long)
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)
#undef SIMT_VECTORS

// Three extents or indices; missing ones are 1.
struct dim3 {
    unsigned int x = 1, y = 1, z = 1;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
