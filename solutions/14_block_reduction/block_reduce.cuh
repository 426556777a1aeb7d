// SPDX-License-Identifier: MIT
//
// The helper of this lesson and of later ones: a block's reduction, from those of its warps.
#pragma once

#include "13_cooperative_groups/warp_reduce.cuh"

namespace {

// What op makes of x of all threads of the block, for each of them. The block has up to 32 whole warps, along x, and all of
// its threads call it. op with the identity changes nothing. of_warps is shared memory, a float for each warp; calls that
// follow each other may name the same.
template <class Op>
__device__ inline float block_reduce(float x, Op op, float identity, float* of_warps) {
    // >>> solution
    //~ // TODO: the warp's own result, which one lane leaves in of_warps; then every warp reduces those of all warps, and a
    //~ // lane that has none there brings the identity. A barrier stands between the stores and the loads of of_warps, and
    //~ // one between the loads of a call and the stores of the next.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const float of_warp = warp_reduce(x, op);
    __syncthreads();  // the call before has been read
    if (lane == 0) {
        of_warps[warp] = of_warp;
    }
    __syncthreads();
    x = warp_reduce(lane < warps ? of_warps[lane] : identity, op);
    // <<< solution
    return x;
}

}  // namespace
