// SPDX-License-Identifier: MIT
//
// __half and __half2: numbers of 5 bits of exponent and 10 of fraction.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#include "simt/short_float.h"

struct __nv_bfloat16;

#define SIMT_SHORT __half
#define SIMT_PAIR __half2
#define SIMT_RAW __half_raw
#define SIMT_PAIR_RAW __half2_raw
#define SIMT_FORMAT simt::HalfFormat
#define SIMT_OTHER __nv_bfloat16
#define SIMT_N(before, after) before##half##after
#include "simt/short_float_functions.h"
#undef SIMT_SHORT
#undef SIMT_PAIR
#undef SIMT_RAW
#undef SIMT_PAIR_RAW
#undef SIMT_FORMAT
#undef SIMT_OTHER
#undef SIMT_N

SIMT_INLINE __half2 __half2half2(__half a) {
    return {a, a};
}

using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00U)
