// SPDX-License-Identifier: MIT
//
// x[s] = scale * scores[b, h, t, s], for s <= t
// lse[b, h, t] = log of the sum over s <= t of exp(x[s])
// att[b, h, t, s] = exp(x[s] - lse) for s <= t, exactly 0 for s > t
//
// One warp per row [b, h, t], the longest rows first. It reads its t + 1 scores twice. In the first pass each lane keeps
// the maximum and the sum of exp(x - maximum) of what it has seen; in the second the probabilities are written.
#include <cfloat>
#include <cmath>

#include "13_cooperative_groups/warp_reduce.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

namespace cg = cooperative_groups;

constexpr int kLanes = 32;  // of a warp: a block is kLanes threads in x, so its row y is one warp
constexpr int kRows = 8;    // rows of a block

// x[4i] to x[4i + 3] of a row that starts at a multiple of 16 bytes. Scores of tokens after t are not read: their x is
// minus infinity, and exp of that is 0.
__device__ float4 four_of_row(const float* scores_t, int i, int t, float scale) {
    if (4 * i + 3 <= t) {
        const float4 score = reinterpret_cast<const float4*>(scores_t)[i];
        return make_float4(scale * score.x, scale * score.y, scale * score.z, scale * score.w);
    }
    const auto at = [=](int s) { return s <= t ? scale * scores_t[s] : -INFINITY; };
    return make_float4(at(4 * i), at(4 * i + 1), at(4 * i + 2), at(4 * i + 3));
}

// The largest of some x, and the sum of exp(x - max) of them. Of no x it is -FLT_MAX and 0: minus infinity less minus
// infinity would be NaN.
struct Running {
    float max = -FLT_MAX;
    float sum = 0.0f;

    __device__ void add(float x) {
        // TODO: the new maximum, and the sum for that maximum.
    }

    __device__ void add(float4 x) {
        // TODO: the same for four x, with one rescaling of the sum.
    }
};

__global__ void causal_softmax_forward_kernel(float* att,                     // (heads, T, T)
                                              float* lse,                     // (heads, T)
                                              const float* scores,            // (heads, T, T)
                                              float scale, int heads, int T,  // heads = B * NH
                                              int T4) {  // float4s of a row of T: T / 4, or 0 for none
    const int lane = threadIdx.x;
    const long warp = static_cast<long>(blockIdx.x) * blockDim.y + threadIdx.y;
    // TODO: nothing for a warp beyond heads * T. Else this warp's head and t, so that the first warps have the longest
    // rows; the rows of att and scores. First pass: a Running for each lane, the lanes along the scores s <= t, by
    // float4s while there are some (T4), else one by one. Then the row's maximum and its sum, by warp_reduce. Second
    // pass: all T columns of att, zeros where s > t. Lane 0 stores lse.
}

}  // namespace

void causal_softmax(float* att,           // (B, NH, T, T)
                    float* lse,           // (B, NH, T)
                    const float* scores,  // (B, NH, T, T)
                    float scale, int B, int NH, int T, Context& ctx) {
    // TODO: T4, as C4 of lesson 06: every row must start at a multiple of 16 bytes. A warp for each row; the launch
    // and its check.
}
