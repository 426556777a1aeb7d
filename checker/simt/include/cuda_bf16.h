// SPDX-License-Identifier: MIT
//
// __nv_bfloat16 and __nv_bfloat162: numbers of 8 bits of exponent, as float has, and 7 of fraction.
#pragma once
#pragma GCC system_header

#include "cuda_fp16.h"

#define SIMT_SHORT __nv_bfloat16
#define SIMT_PAIR __nv_bfloat162
#define SIMT_RAW __nv_bfloat16_raw
#define SIMT_PAIR_RAW __nv_bfloat162_raw
#define SIMT_FORMAT simt::BfloatFormat
#define SIMT_OTHER __half
#define SIMT_N(before, after) before##bfloat16##after
#include "simt/short_float_functions.h"
#undef SIMT_SHORT
#undef SIMT_PAIR
#undef SIMT_RAW
#undef SIMT_PAIR_RAW
#undef SIMT_FORMAT
#undef SIMT_OTHER
#undef SIMT_N

SIMT_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) {
    return {a, a};
}

inline __half::__half(__nv_bfloat16 value) : __half(static_cast<float>(value)) {}
inline __nv_bfloat16::__nv_bfloat16(__half value) : __nv_bfloat16(static_cast<float>(value)) {}

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80U)
