// SPDX-License-Identifier: MIT
//
// out[b, t, h] = sum over s <= t of exp(scale * query[b, t, h] . key[b, s, h] - lse[b, h, t]) * value[b, s, h]
//
// One launch, and no (T, T) matrix in memory. A block computes 64 rows of one head. It goes along the keys, a tile at a
// time: the scores of its rows with them, their weights relative to the largest score so far, and the weighted values,
// which it adds to its rows. Where a larger score comes, all that it has summed so far is rescaled by one factor per row.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "checker/ptx.h"
#include "lessons/16_fused_attention/tiles.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace cg = cooperative_groups;

namespace {

// Of a thread's rows, for the keys so far.
template <int kHS>
struct Rows {
    float max[kRows];               // the largest score, times scale_2, of all lanes
    float sum[kRows];               // of 2^(scale_2 * score - max), over this lane's keys
    typename Head<kHS>::Outs outs;  // the values of all lanes' keys, times these weights
};

// scale_2 * score is the exponent of 2 with which a score weighs: exp(x) = 2^(x log2(e)).
// Turns a tile's scores into weights, and rescales `rows` to the largest score of the tile and of those before it.
template <int kHS>
__device__ void fold_in(Rows<kHS>& rows, typename Head<kHS>::Scores& scores, float scale_2) {
    // >>> solution
    //~ // TODO: for each of the thread's rows: the largest of its scores in all kLanes lanes, by reduce_lanes, and the new
    //~ // maximum. By what do the sum and the outs for the old maximum have to be multiplied? Then each score becomes its
    //~ // weight, which is added to the sum.
#pragma unroll
    for (int i = 0; i < kRows; i++) {
        float largest = -INFINITY;
        for (const float score : scores[i]) { largest = fmaxf(largest, score); }
        const float max = fmaxf(rows.max[i], scale_2 * reduce_lanes(largest, cg::greater<float>()));
        const float rescale = ptx::exp2_approx(rows.max[i] - max);  // 0 in the first tile: 2^-infinity
        rows.max[i] = max;
        rows.sum[i] *= rescale;
        for (float& out : rows.outs[i]) { out *= rescale; }
        for (float& score : scores[i]) {
            score = ptx::exp2_approx(scale_2 * score - max);
            rows.sum[i] += score;
        }
    }
    // <<< solution
}

template <int kHS>
__global__ void __launch_bounds__(kThreads)
    attention_forward_kernel(float* out,        // (B, T, C)
                             float* lse,        // (B, NH, T)
                             const float* qkv,  // (B, T, 3C)
                             int T, int C, int NH, float scale_2, bool vectors) {
    constexpr int kKeys = Head<kHS>::kKeys;
    extern __shared__ __align__(16) unsigned char shared[];
    auto& tiles = *reinterpret_cast<typename Head<kHS>::Tiles*>(shared);
    const int HS = C / NH;
    const long b = blockIdx.x / NH, h = blockIdx.x % NH;                     // long, as b * T * 3C may pass 2^31
    const int q0 = static_cast<int>(gridDim.y - 1 - blockIdx.y) * kQueries;  // the longest rows first
    const float* query = qkv + (b * T + q0) * 3 * C + h * HS;  // query[b, q0, h, :]; the next token's is 3C further
    const float* key = qkv + b * T * 3 * C + C + h * HS;       // key[b, 0, h, :]
    const float* value = key + C;                              // value[b, 0, h, :]
    const long stride = 3L * C;
    const int rows_here = min(kQueries, T - q0);

    Rows<kHS> rows;
#pragma unroll
    for (int i = 0; i < kRows; i++) {
        rows.max[i] = -INFINITY;
        rows.sum[i] = 0.0f;
#pragma unroll
        for (float& x : rows.outs[i]) { x = 0.0f; }
    }
    load_tile(tiles.query, query, stride, rows_here, HS, vectors);
    // >>> solution
    //~ // TODO: for each tile of kKeys keys that has one for some query of the block: the keys into tiles.of_keys; the scores;
    //~ // -INFINITY for a key that comes after its query; fold_in; the values into tiles.of_keys; and kPart keys at a time
    //~ // store_weights and add_weighted_values. Which accesses of other threads does each step have to wait for?
    for (int k0 = 0; k0 < q0 + rows_here; k0 += kKeys) {
        const int keys_here = min(kKeys, T - k0);
        __syncthreads();  // everyone has read the values of the tile before
        load_tile(tiles.of_keys, key + k0 * stride, stride, keys_here, HS, vectors);
        __syncthreads();  // the keys are whole, and the queries
        typename Head<kHS>::Scores scores;
        multiply_queries_and_keys<kHS>(scores, tiles);
        if (k0 + kKeys - 1 > q0) {  // some key of the tile comes after some query of the block
#pragma unroll
            for (int i = 0; i < kRows; i++) {
#pragma unroll
                for (int j = 0; j < kKeys / kLanes; j++) {
                    if (k0 + key_of(j) > q0 + row_of(i)) {
                        scores[i][j] = -INFINITY;
                    }
                }
            }
        }
        fold_in<kHS>(rows, scores, scale_2);
        __syncthreads();  // everyone has read the keys
        load_tile(tiles.of_keys, value + k0 * stride, stride, keys_here, HS, vectors);
        __syncthreads();  // the values are whole
#pragma unroll
        for (int first = 0; first < kKeys; first += kPart) {
            __syncwarp();  // the warp has read the weights of the part before
            store_weights<kHS>(tiles, scores, first);
            __syncwarp();  // the weights of the warp's rows are whole
            add_weighted_values<kHS>(rows.outs, tiles, first);
        }
    }
    // <<< solution

    // >>> solution
    //~ // TODO: each row's sum over all kLanes lanes; by one of them lse[b, h, q0 + row] of the rows that there are, as a
    //~ // natural logarithm; and the rows of out by store_outs.
    float* lse_0 = lse + (b * NH + h) * T + q0;  // lse[b, h, q0]
    float times[kRows];
#pragma unroll
    for (int i = 0; i < kRows; i++) {
        const float sum = reduce_lanes(rows.sum[i], cg::plus<float>());
        times[i] = 1.0f / sum;
        if (threadIdx.x % kLanes == 0 && row_of(i) < rows_here) {
            lse_0[row_of(i)] = kLn2 * (rows.max[i] + log2f(sum));
        }
    }
    store_outs<kHS>(out + (b * T + q0) * C + h * HS, rows.outs, times, C, rows_here, HS, vectors);
    // <<< solution
}

template <int kHS>
void launch(float* out, float* lse, const float* qkv, int B, int T, int C, int NH, Context& ctx) {
    const int HS = C / NH;
    const float scale_2 = static_cast<float>(kLog2E / std::sqrt(static_cast<double>(HS)));
    const bool vectors = HS % 4 == 0 && C % 4 == 0 && is_aligned_16(out, qkv);
    constexpr std::size_t kBytes = sizeof(typename Head<kHS>::Tiles);
    const auto kernel = attention_forward_kernel<kHS>;
    check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));  // more than 48 KB of some
    const dim3 grid(B * NH, ceil_div(T, kQueries));
    kernel<<<grid, kThreads, kBytes, ctx.stream>>>(out, lse, qkv, T, C, NH, scale_2, vectors);
    check(cudaGetLastError());
}

}  // namespace

std::size_t attention_scratch_bytes(int, int, int, int) {
    return 0;
}

void attention(float* out,        // (B, T, C)
               float* lse,        // (B, NH, T), as causal_softmax
               const float* qkv,  // (B, T, 3C)
               void* /*scratch*/, int B, int T, int C, int NH, Context& ctx) {
    const int HS = C / NH;
    if (HS > kLargest) {
        throw std::invalid_argument("attention: heads of C / NH = " + std::to_string(HS) +
                                    " channels; this kernel has registers for " + std::to_string(kLargest) +
                                    " at most");
    }
    const auto of_size = HS <= 32 ? launch<32> : HS <= 64 ? launch<64> : launch<128>;
    of_size(out, lse, qkv, B, T, C, NH, ctx);
}
