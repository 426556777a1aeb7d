// SPDX-License-Identifier: MIT
//
// Numbers of 8 bits: E4M3 (4 bits of exponent, 3 of fraction, no infinity, one NaN) and E5M2 (a half's upper byte).
// Conversions to them round to the nearest even and, unless they are told not to, give the largest number for what is
// larger (CUDA Math API, "FP8 Conversion and Data Movement").
#pragma once
#pragma GCC system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

namespace simt {

struct ByteFormat {
    int fraction_bits, bias;
    unsigned int largest, beyond;  // the largest number, and what is beyond it where nothing saturates
};
constexpr ByteFormat format_of(__nv_fp8_interpretation_t kind) {
    return kind == __NV_E4M3 ? ByteFormat{3, 7, 0x7e, 0x7f} : ByteFormat{2, 15, 0x7b, 0x7c};
}

SIMT_INLINE unsigned char to_byte(double value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    constexpr unsigned int kNan = 0x7f;
    if (std::isnan(value)) {
        return kNan;
    }
    const ByteFormat format = format_of(kind);
    const unsigned int sign = std::signbit(value) ? 0x80 : 0;
    const double magnitude = std::fabs(value);
    const double most = 65536;  // beyond both formats
    unsigned int bits = format.largest + 1;
    if (magnitude < most) {
        int exponent = magnitude == 0 ? 1 - format.bias : std::ilogb(magnitude);
        exponent = exponent < 1 - format.bias ? 1 - format.bias : exponent;
        const double steps = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
        // A carry out of the fraction is the next exponent, as it should be.
        bits = (static_cast<unsigned int>(exponent + format.bias - 1) << format.fraction_bits) +
               static_cast<unsigned int>(steps);
    }
    if (bits > format.largest) {
        bits = saturation == __NV_SATFINITE ? format.largest : format.beyond;
    }
    return static_cast<unsigned char>(sign | bits);
}

SIMT_INLINE float of_byte(unsigned char byte, __nv_fp8_interpretation_t kind) {
    if (kind == __NV_E5M2) {
        return HalfFormat::value(static_cast<std::uint16_t>(byte << 8));
    }
    const unsigned int magnitude = byte & 0x7fU, exponent = magnitude >> 3, fraction = magnitude & 7U;
    const float value = magnitude == 0x7f ? bit_cast<float>(0x7fffffffU)
                        : exponent == 0   ? std::ldexp(static_cast<float>(fraction), -9)
                                        : std::ldexp(static_cast<float>(8 + fraction), static_cast<int>(exponent) - 10);
    return (byte & 0x80U) != 0 ? -value : value;
}

}  // namespace simt

SIMT_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind) {
    return simt::to_byte(x, saturation, kind);
}
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind) {
    return simt::to_byte(x, saturation, kind);
}
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t kind) {
    return simt::to_byte(static_cast<float>(__half(x)), saturation, kind);
}
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind) {
    return simt::to_byte(static_cast<float>(__nv_bfloat16(x)), saturation, kind);
}
SIMT_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    return __half_raw(__half(simt::of_byte(x, kind)));
}

// Pairs: the first number is in the lower byte.
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind) {
    return static_cast<__nv_fp8x2_storage_t>(simt::to_byte(x.x, saturation, kind) | simt::to_byte(x.y, saturation, kind)
                                                                                        << 8);
}
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturation,
                                                          __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double2_to_fp8x2(double2{x.x, x.y}, saturation, kind);
}
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturation,
                                                            __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturation, kind);
}
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x, __nv_saturation_t saturation,
                                                                __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(x)), saturation, kind);
}
SIMT_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
    return {__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(x), kind).x,
            __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(x >> 8), kind).x};
}

#define SIMT_FP8_INTEGER(T)                                                          \
    SIMT_INLINE explicit SIMT_FP8(T value) : SIMT_FP8(static_cast<double>(value)) {} \
    SIMT_INLINE explicit operator T() const {                                        \
        return simt::to_integer<T>(static_cast<float>(*this), simt::Rounding::zero); \
    }
#define SIMT_FP8_TYPES(kind)                                                                                          \
    struct SIMT_FP8 {                                                                                                 \
        __nv_fp8_storage_t __x;                                                                                       \
        SIMT_FP8() = default;                                                                                         \
        SIMT_INLINE explicit SIMT_FP8(double value) : __x(simt::to_byte(value, __NV_SATFINITE, kind)) {}              \
        SIMT_INLINE explicit SIMT_FP8(float value) : SIMT_FP8(double{value}) {}                                       \
        SIMT_INLINE explicit SIMT_FP8(__half value) : SIMT_FP8(static_cast<float>(value)) {}                          \
        SIMT_INLINE explicit SIMT_FP8(__nv_bfloat16 value) : SIMT_FP8(static_cast<float>(value)) {}                   \
        SIMT_FP8_INTEGER(short)                                                                                       \
        SIMT_FP8_INTEGER(unsigned short)                                                                              \
        SIMT_FP8_INTEGER(int)                                                                                         \
        SIMT_FP8_INTEGER(unsigned int)                                                                                \
        SIMT_FP8_INTEGER(long)                                                                                        \
        SIMT_FP8_INTEGER(unsigned long)                                                                               \
        SIMT_FP8_INTEGER(long long)                                                                                   \
        SIMT_FP8_INTEGER(unsigned long long)                                                                          \
        SIMT_INLINE explicit operator float() const { return simt::of_byte(__x, kind); }                              \
        SIMT_INLINE explicit operator double() const { return simt::of_byte(__x, kind); }                             \
        SIMT_INLINE explicit operator __half() const { return __half(simt::of_byte(__x, kind)); }                     \
        SIMT_INLINE explicit operator __nv_bfloat16() const { return __nv_bfloat16(simt::of_byte(__x, kind)); }       \
        SIMT_INLINE explicit operator bool() const { return (__x & 0x7fU) != 0; }                                     \
    };                                                                                                                \
    struct alignas(2) SIMT_FP8X2 {                                                                                    \
        __nv_fp8x2_storage_t __x;                                                                                     \
        SIMT_FP8X2() = default;                                                                                       \
        SIMT_INLINE explicit SIMT_FP8X2(double2 value)                                                                \
            : __x(__nv_cvt_double2_to_fp8x2(value, __NV_SATFINITE, kind)) {}                                          \
        SIMT_INLINE explicit SIMT_FP8X2(float2 value) : __x(__nv_cvt_float2_to_fp8x2(value, __NV_SATFINITE, kind)) {} \
        SIMT_INLINE explicit SIMT_FP8X2(__half2 value) : SIMT_FP8X2(__half22float2(value)) {}                         \
        SIMT_INLINE explicit SIMT_FP8X2(__nv_bfloat162 value) : SIMT_FP8X2(__bfloat1622float2(value)) {}              \
        SIMT_INLINE explicit operator float2() const { return __half22float2(static_cast<__half2>(*this)); }          \
        SIMT_INLINE explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }      \
    };                                                                                                                \
    struct alignas(4) SIMT_FP8X4 {                                                                                    \
        __nv_fp8x4_storage_t __x;                                                                                     \
        SIMT_FP8X4() = default;                                                                                       \
        SIMT_INLINE explicit SIMT_FP8X4(double4 value)                                                                \
            : __x(SIMT_FP8X2(double2{value.x, value.y}).__x |                                                         \
                  static_cast<unsigned int>(SIMT_FP8X2(double2{value.z, value.w}).__x) << 16) {}                      \
        SIMT_INLINE explicit SIMT_FP8X4(float4 value) : SIMT_FP8X4(double4{value.x, value.y, value.z, value.w}) {}    \
        SIMT_INLINE SIMT_FP8X4(__half2 low, __half2 high)                                                             \
            : __x(SIMT_FP8X2(low).__x | static_cast<unsigned int>(SIMT_FP8X2(high).__x) << 16) {}                     \
        SIMT_INLINE SIMT_FP8X4(__nv_bfloat162 low, __nv_bfloat162 high)                                               \
            : __x(SIMT_FP8X2(low).__x | static_cast<unsigned int>(SIMT_FP8X2(high).__x) << 16) {}                     \
        SIMT_INLINE explicit operator float4() const {                                                                \
            return {simt::of_byte(static_cast<unsigned char>(__x), kind),                                             \
                    simt::of_byte(static_cast<unsigned char>(__x >> 8), kind),                                        \
                    simt::of_byte(static_cast<unsigned char>(__x >> 16), kind),                                       \
                    simt::of_byte(static_cast<unsigned char>(__x >> 24), kind)};                                      \
        }                                                                                                             \
    };

#define SIMT_FP8 __nv_fp8_e4m3
#define SIMT_FP8X2 __nv_fp8x2_e4m3
#define SIMT_FP8X4 __nv_fp8x4_e4m3
SIMT_FP8_TYPES(__NV_E4M3)
#undef SIMT_FP8
#undef SIMT_FP8X2
#undef SIMT_FP8X4
#define SIMT_FP8 __nv_fp8_e5m2
#define SIMT_FP8X2 __nv_fp8x2_e5m2
#define SIMT_FP8X4 __nv_fp8x4_e5m2
SIMT_FP8_TYPES(__NV_E5M2)
#undef SIMT_FP8
#undef SIMT_FP8X2
#undef SIMT_FP8X4
#undef SIMT_FP8_TYPES
#undef SIMT_FP8_INTEGER
