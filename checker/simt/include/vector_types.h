// SPDX-License-Identifier: MIT
//
// CUDA's vector types with CUDA's alignment: a float4 is one 16-byte access.
#pragma once
#pragma GCC system_header

struct alignas(1) char1 {
    signed char x;
};
struct alignas(2) char2 {
    signed char x, y;
};
struct alignas(1) char3 {
    signed char x, y, z;
};
struct alignas(4) char4 {
    signed char x, y, z, w;
};
struct alignas(1) uchar1 {
    unsigned char x;
};
struct alignas(2) uchar2 {
    unsigned char x, y;
};
struct alignas(1) uchar3 {
    unsigned char x, y, z;
};
struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
};
struct alignas(2) short1 {
    short x;
};
struct alignas(4) short2 {
    short x, y;
};
struct alignas(2) short3 {
    short x, y, z;
};
struct alignas(8) short4 {
    short x, y, z, w;
};
struct alignas(2) ushort1 {
    unsigned short x;
};
struct alignas(4) ushort2 {
    unsigned short x, y;
};
struct alignas(2) ushort3 {
    unsigned short x, y, z;
};
struct alignas(8) ushort4 {
    unsigned short x, y, z, w;
};
struct alignas(4) int1 {
    int x;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(4) int3 {
    int x, y, z;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(4) uint1 {
    unsigned int x;
};
struct alignas(8) uint2 {
    unsigned int x, y;
};
struct alignas(4) uint3 {
    unsigned int x, y, z;
};
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
struct alignas(8) long1 {
    long x;
};
struct alignas(16) long2 {
    long x, y;
};
struct alignas(8) long3 {
    long x, y, z;
};
struct alignas(16) long4 {
    long x, y, z, w;
};
struct alignas(8) ulong1 {
    unsigned long x;
};
struct alignas(16) ulong2 {
    unsigned long x, y;
};
struct alignas(8) ulong3 {
    unsigned long x, y, z;
};
struct alignas(16) ulong4 {
    unsigned long x, y, z, w;
};
struct alignas(8) longlong1 {
    long long x;
};
struct alignas(16) longlong2 {
    long long x, y;
};
struct alignas(8) longlong3 {
    long long x, y, z;
};
struct alignas(16) longlong4 {
    long long x, y, z, w;
};
struct alignas(8) ulonglong1 {
    unsigned long long x;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
struct alignas(8) ulonglong3 {
    unsigned long long x, y, z;
};
struct alignas(16) ulonglong4 {
    unsigned long long x, y, z, w;
};
struct alignas(4) float1 {
    float x;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(4) float3 {
    float x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) double1 {
    double x;
};
struct alignas(16) double2 {
    double x, y;
};
struct alignas(8) double3 {
    double x, y, z;
};
struct alignas(16) double4 {
    double x, y, z, w;
};

// Three extents or indices; missing ones are 1.
struct dim3 {
    unsigned int x = 1, y = 1, z = 1;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
