// SPDX-License-Identifier: MIT
//
// A piece is what a lane moves at once: a float4 where every row starts at a multiple of 16 bytes, else a float.
#pragma once

namespace {

__device__ inline float sum_of(float x) {
    return x;
}
__device__ inline float sum_of(float4 x) {
    return (x.x + x.y) + (x.z + x.w);
}

__device__ inline float largest_of(float x) {
    return x;
}
__device__ inline float largest_of(float4 x) {
    return fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
}

// f of each float of a piece, or of those at the same place in several: map(f, x, w) is the piece of f(x_i, w_i).
template <class F, class... Floats>
__device__ inline float map(F f, float x, Floats... others) {
    return f(x, others...);
}
template <class F, class... Pieces>
__device__ inline float4 map(F f, float4 x, Pieces... others) {
    return make_float4(f(x.x, others.x...), f(x.y, others.y...), f(x.z, others.z...), f(x.w, others.w...));
}

}  // namespace
