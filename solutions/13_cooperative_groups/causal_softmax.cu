// SPDX-License-Identifier: MIT
//
// x[s] = scale * scores[b, h, t, s], for s <= t
// lse[b, h, t] = log of the sum over s <= t of exp(x[s])
// att[b, h, t, s] = exp(x[s] - lse) for s <= t, exactly 0 for s > t
//
// One warp per row [b, h, t], the longest rows first. Three passes over its t + 1 scores, as in lesson 05: the maximum, the sum
// of exp(x - maximum), the probabilities. After each of the first two the lanes join what they have found, by shuffles.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cfloat>
#include <cmath>

#include "lessons/13_cooperative_groups/scores.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"
#include "warp_reduce.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int kLanes = 32;  // a block is kLanes threads in x, so its row y is one warp
constexpr int kRows = 8;    // the warps of a block

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
    //~ // TODO: the largest x of this lane's pieces, then of all lanes, by your warp_reduce. The tile of 32 threads that this
    //~ // one is in. The sum of exp(x - maximum) over this lane's pieces, then over all lanes, by cg::reduce. Store the
    //~ // probabilities; lane 0 stores lse[n].
    float max = -FLT_MAX;
    row.each([&](auto x) { max = fmaxf(max, largest_of(x)); });
    max = warp_reduce(max, cg::greater<float>());

    const cg::thread_block_tile<kLanes> warp = cg::tiled_partition<kLanes>(cg::this_thread_block());
    const auto above = [max](float x) { return expf(x - max); };
    float sum = 0.0f;
    row.each([&](auto x) { sum += sum_of(map(above, x)); });
    sum = cg::reduce(warp, sum, cg::plus<float>());

    const float factor = 1.0f / sum;
    row.store([=](float x) { return above(x) * factor; });
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
    // >>> solution
    //~ // TODO: the launch, a warp for each row, and its check.
    const long rows = static_cast<long>(heads) * T;
    const dim3 block(kLanes, kRows);
    causal_softmax_forward_kernel<<<ceil_div(rows, kRows), block, 0, ctx.stream>>>(att, lse, scores, scale, heads, T,
                                                                                   T4);
    check(cudaGetLastError());
    // <<< solution
}
