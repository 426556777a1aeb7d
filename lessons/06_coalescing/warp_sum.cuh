// SPDX-License-Identifier: MIT
#pragma once

// The sum of x over the 32 lanes of a warp, for every lane. All 32 call it together: a lane that has nothing to add
// passes 0. Lesson 13 takes it apart.
__device__ inline float warp_sum(float x) {
    for (int distance = 16; distance > 0; distance /= 2) { x += __shfl_xor_sync(0xffffffffU, x, distance); }
    return x;
}
