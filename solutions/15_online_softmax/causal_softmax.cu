// SPDX-License-Identifier: MIT
//
// x[s] = scale * scores[b, h, t, s], for s <= t
// lse[b, h, t] = log of the sum over s <= t of exp(x[s])
// att[b, h, t, s] = exp(x[s] - lse) for s <= t, exactly 0 for s > t
//
// Lesson 13's kernel with two passes: a warp reads its t + 1 scores twice. In the first pass each lane keeps the maximum and the
// sum of exp(x - maximum) of what it has seen; in the second the probabilities are written.
#include <cfloat>
#include <cmath>

#include "13_cooperative_groups/warp_reduce.cuh"
#include "lessons/13_cooperative_groups/scores.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

namespace cg = cooperative_groups;

constexpr int kLanes = 32;  // a block is kLanes threads in x, so its row y is one warp
constexpr int kRows = 8;    // the warps of a block

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
        const float larger = fmaxf(max, largest_of(x));
        sum = sum * expf(max - larger) + sum_of(map([=](float v) { return expf(v - larger); }, x));
        max = larger;
        // <<< solution
    }
};

__global__ void causal_softmax_forward_kernel(float* att,                     // (heads, T, T)
                                              float* lse,                     // (heads, T)
                                              const float* scores,            // (heads, T, T)
                                              float scale, int heads, int T,  // heads = B * NH
                                              int T4) {  // float4s of a row of T: T / 4, or 0 for none
    const long number = static_cast<long>(blockIdx.x) * blockDim.y + threadIdx.y;  // this warp's
    if (number >= static_cast<long>(heads) * T) {
        return;  // all lanes of a warp that has no row
    }
    const int t = T - 1 - static_cast<int>(number / heads);  // the first warps have the longest rows
    const long n = number % heads * T + t;                   // [b, h, t]
    const int lane = threadIdx.x;
    const Row row{.att = att + n * T, .scores = scores + n * T, .scale = scale, .t = t, .T = T, .T4 = T4, .lane = lane};
    // >>> solution
    //~ // TODO: one pass in which a Running sees all of this lane's pieces. Then the row's maximum and its sum, by two
    //~ // warp_reduce. Store the probabilities; lane 0 stores lse[n].
    Running seen;
    row.each([&](auto x) { seen.add(x); });
    const float max = warp_reduce(seen.max, cg::greater<float>());
    const float sum = warp_reduce(seen.sum * expf(seen.max - max), cg::plus<float>());

    const float factor = 1.0f / sum;
    row.store([=](float x) { return expf(x - max) * factor; });
    if (lane == 0) {
        lse[n] = max + logf(sum);
    }
    // <<< solution
}

}  // namespace

void causal_softmax(float* att,           // (B, NH, T, T)
                    float* lse,           // (B, NH, T)
                    const float* scores,  // (B, NH, T, T)
                    float scale, int B, int NH, int T, Context& ctx) {
    const int heads = B * NH;
    const int T4 = T % 4 == 0 && is_aligned_16(att, scores) ? T / 4 : 0;
    const long rows = static_cast<long>(heads) * T;
    const dim3 block(kLanes, kRows);
    causal_softmax_forward_kernel<<<ceil_div(rows, kRows), block, 0, ctx.stream>>>(att, lse, scores, scale, heads, T,
                                                                                   T4);
    check(cudaGetLastError());
}
