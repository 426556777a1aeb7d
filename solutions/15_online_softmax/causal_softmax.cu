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
        // >>> solution
        //~ // TODO: the new maximum, and the sum for that maximum.
        const float larger = fmaxf(max, x);
        sum = sum * expf(max - larger) + expf(x - larger);
        max = larger;
        // <<< solution
    }

    __device__ void add(float4 x) {
        // >>> solution
        //~ // TODO: the same for four x, with one rescaling of the sum.
        const float larger = fmaxf(max, fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)));
        sum = sum * expf(max - larger) +
              ((expf(x.x - larger) + expf(x.y - larger)) + (expf(x.z - larger) + expf(x.w - larger)));
        max = larger;
        // <<< solution
    }
};

__global__ void causal_softmax_forward_kernel(float* att,                     // (heads, T, T)
                                              float* lse,                     // (heads, T)
                                              const float* scores,            // (heads, T, T)
                                              float scale, int heads, int T,  // heads = B * NH
                                              int T4) {  // float4s of a row of T: T / 4, or 0 for none
    const int lane = threadIdx.x;
    const long warp = static_cast<long>(blockIdx.x) * blockDim.y + threadIdx.y;
    // >>> solution
    //~ // TODO: nothing for a warp beyond heads * T. Else this warp's head and t, so that the first warps have the longest
    //~ // rows; the rows of att and scores. First pass: a Running for each lane, the lanes along the scores s <= t, by
    //~ // float4s while there are some (T4), else one by one. Then the row's maximum and its sum, by warp_reduce. Second
    //~ // pass: all T columns of att, zeros where s > t. Lane 0 stores lse.
    if (warp >= static_cast<long>(heads) * T) {
        return;
    }
    const int t = T - 1 - static_cast<int>(warp / heads);
    const long row = warp % heads * T + t;     // [b, h, t]
    const float* scores_t = scores + row * T;  // scores[b, h, t, :]
    float* att_t = att + row * T;              // att[b, h, t, :]
    float4* att_t4 = reinterpret_cast<float4*>(att_t);

    Running seen;
    for (int i = lane; i < T4 && 4 * i <= t; i += kLanes) { seen.add(four_of_row(scores_t, i, t, scale)); }
    for (int s = 4 * T4 + lane; s <= t; s += kLanes) { seen.add(scale * scores_t[s]); }

    const float max = warp_reduce(seen.max, cg::greater<float>());
    const float sum = warp_reduce(seen.sum * expf(seen.max - max), cg::plus<float>());

    const float factor = 1.0f / sum;
    const auto prob = [=](float x) { return expf(x - max) * factor; };
    for (int i = lane; i < T4; i += kLanes) {
        float4 probs = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (4 * i <= t) {
            const float4 x = four_of_row(scores_t, i, t, scale);
            probs = make_float4(prob(x.x), prob(x.y), prob(x.z), prob(x.w));
        }
        att_t4[i] = probs;
    }
    for (int s = 4 * T4 + lane; s < T; s += kLanes) { att_t[s] = s <= t ? prob(scale * scores_t[s]) : 0.0f; }
    if (lane == 0) {
        lse[row] = max + logf(sum);
    }
    // <<< solution
}

}  // namespace

void causal_softmax(float* att,           // (B, NH, T, T)
                    float* lse,           // (B, NH, T)
                    const float* scores,  // (B, NH, T, T)
                    float scale, int B, int NH, int T, Context& ctx) {
    // >>> solution
    //~ // TODO: T4, as C4 of lesson 06: every row must start at a multiple of 16 bytes. A warp for each row; the launch
    //~ // and its check.
    const int heads = B * NH;
    const int T4 = T % 4 == 0 && is_aligned_16(att, scores) ? T / 4 : 0;
    const long rows = static_cast<long>(heads) * T;
    const dim3 block(kLanes, kRows);
    causal_softmax_forward_kernel<<<ceil_div(rows, kRows), block, 0, ctx.stream>>>(att, lse, scores, scale, heads, T,
                                                                                   T4);
    check(cudaGetLastError());
    // <<< solution
}
