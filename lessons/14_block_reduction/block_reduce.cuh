// SPDX-License-Identifier: MIT
//
// The helper of this lesson and of later ones: a block's reduction, from those of its warps.
#pragma once

#include "13_cooperative_groups/warp_reduce.cuh"

namespace {

// x of all threads of the block, joined by op: every thread gets the result. The block has up to 32 whole warps, along x,
// and all of its threads call it. op(a, identity) is a. of_warps is shared memory, one float per warp; calls that follow
// each other may use the same.
template <class Op>
__device__ inline float block_reduce(float x, Op op, float identity, float* of_warps) {
    // TODO: the warp's own result, which one lane stores in of_warps. Then every warp reduces the results of all warps;
    // a lane for which there is none takes the identity. One barrier comes between the stores and the loads of of_warps,
    // and one between the loads of a call and the stores of the next.
    return x;
}

}  // namespace
