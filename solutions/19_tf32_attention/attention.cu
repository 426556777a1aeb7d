// SPDX-License-Identifier: MIT
//
// out[b, t, h] = sum over s <= t of exp(scale * query[b, t, h] . key[b, s, h] - lse[b, h, t]) * value[b, s, h], with the
// factors of both products rounded to TF32
//
// Lesson 16's way along the keys, with lesson 18's instruction. The scores that a warp has summed are, as weights, a factor
// of its next product, and never leave its registers. Values arrive by cp.async while scores are computed, and the next
// keys while the values are added.
#include <cmath>
#include <stdexcept>
#include <string>

#include "lessons/19_tf32_attention/tiles.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

// State of a lane's rows, for the keys so far: row 16 i + 8 half + g of the warp is [i][half].
template <int kHS>
struct Rows {
    float max[Head<kHS>::kRowTiles][2];  // the largest score, times scale_2, of all lanes
    float sum[Head<kHS>::kRowTiles][2];  // the sum of 2^(scale_2 * score - max), over this lane's keys
    typename Head<kHS>::Outs outs;       // the values of all lanes' keys, times these weights
};

// Sets the scores of keys that come after their query to -infinity. `first` is the tile's first key less the warp's first
// query.
template <int kHS>
__device__ void mask(typename Head<kHS>::Scores& scores, int first) {
    // >>> solution
    //~ // TODO: which row and which key has x[l] of scores[i][j]?
#pragma unroll
    for (int i = 0; i < Head<kHS>::kRowTiles; i++) {
#pragma unroll
        for (int j = 0; j < kKeyTiles; j++) {
#pragma unroll
            for (int l = 0; l < 4; l++) {
                const int row = 16 * i + 8 * (l / 2) + group_of_lane(), key = 8 * j + 2 * number_in_group() + l % 2;
                if (first + key > row) {
                    scores[i][j].x[l] = -INFINITY;
                }
            }
        }
    }
    // <<< solution
}

// Turns a tile's scores into weights, and rescales `rows` to the largest score of the tile and of those before it.
template <int kHS>
__device__ void fold_in(Rows<kHS>& rows, typename Head<kHS>::Scores& scores, float scale_2) {
    // >>> solution
    //~ // TODO: lesson 16's, for rows g and g + 8 of each tile of rows: x[0] and x[1] of a tile of scores or of outs are of
    //~ // row g, x[2] and x[3] of row g + 8. By reduce_group and ptx::exp2_approx.
#pragma unroll
    for (int i = 0; i < Head<kHS>::kRowTiles; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float largest = -INFINITY;
#pragma unroll
            for (const ptx::Accumulators& tile : scores[i]) {
                largest = fmaxf(largest, fmaxf(tile.x[2 * half], tile.x[2 * half + 1]));
            }
            largest = reduce_group(largest, [](float x, float y) { return fmaxf(x, y); });
            const float max = fmaxf(rows.max[i][half], scale_2 * largest);
            const float rescale = ptx::exp2_approx(rows.max[i][half] - max);  // 0 in the first tile: -infinity before
            rows.max[i][half] = max;
            rows.sum[i][half] *= rescale;
#pragma unroll
            for (ptx::Accumulators& tile : rows.outs[i]) {
                tile.x[2 * half] *= rescale;
                tile.x[2 * half + 1] *= rescale;
            }
#pragma unroll
            for (ptx::Accumulators& tile : scores[i]) {
#pragma unroll
                for (int l = 2 * half; l < 2 * half + 2; l++) {
                    tile.x[l] = ptx::exp2_approx(scale_2 * tile.x[l] - max);
                    rows.sum[i][half] += tile.x[l];
                }
            }
        }
    }
    // <<< solution
}

// Returns a tile of weights as the first factor of a product: slot q of its 8 has key 2 q, slot q + 4 key 2 q + 1.
__device__ ptx::Tf32A as_factor(const ptx::Accumulators& weights) {
    ptx::Tf32A factor = {};
    // >>> solution
    //~ // TODO: of which row and which key is each x[i], before and after? Rounded by ptx::to_tf32.
#pragma unroll
    for (int i = 0; i < 4; i++) { factor.x[i] = ptx::to_tf32(weights.x[i % 2 * 2 + i / 2]); }
    // <<< solution
    return factor;
}

// Loads the fragment of 8 values, from `key` on, and of 8 channels, from `c` on, with the keys in as_factor's order.
template <int kStride>
__device__ ptx::Tf32B load_values(const float (&values)[kKeys][kStride], int key, int c) {
    ptx::Tf32B factor = {};
    // >>> solution
    //~ // TODO: two floats of channel c + g.
#pragma unroll
    for (int i = 0; i < 2; i++) {
        factor.x[i] = ptx::to_tf32(values[key + 2 * number_in_group() + i][c + group_of_lane()]);
    }
    // <<< solution
    return factor;
}

// Adds the tile's values, times the weights of the warp's rows, to `outs`.
template <int kHS>
__device__ void add_weighted_values(typename Head<kHS>::Outs& outs, const typename Head<kHS>::Scores& weights,
                                    const typename Head<kHS>::Tiles& tiles) {
    // >>> solution
    //~ // TODO: for each tile of 8 keys its weights by as_factor; for each tile of 8 channels load_values and the products.
#pragma unroll
    for (int k = 0; k < kKeyTiles; k++) {
        ptx::Tf32A factors[Head<kHS>::kRowTiles];
#pragma unroll
        for (int i = 0; i < Head<kHS>::kRowTiles; i++) { factors[i] = as_factor(weights[i][k]); }
#pragma unroll
        for (int j = 0; j < Head<kHS>::kColumnTiles; j++) {
            const ptx::Tf32B values = load_values(tiles.values, 8 * k, 8 * j);
#pragma unroll
            for (int i = 0; i < Head<kHS>::kRowTiles; i++) { ptx::mma_m16n8k8(outs[i][j], factors[i], values); }
        }
    }
    // <<< solution
}

template <int kHS>
__global__ void __launch_bounds__(kThreads, 2)  // registers for two blocks on a multiprocessor: 255 per thread
    attention_forward_kernel(float* out,        // (B, T, C)
                             float* lse,        // (B, NH, T)
                             const float* qkv,  // (B, T, 3C)
                             int T, int C, int NH, float scale_2, bool vectors) {
    extern __shared__ __align__(16) unsigned char shared[];
    auto& tiles = *reinterpret_cast<typename Head<kHS>::Tiles*>(shared);
    const int HS = C / NH, stride = 3 * C;
    const long b = blockIdx.x / NH, h = blockIdx.x % NH;  // long, as b * T * 3C may pass 2^31
    const int q0 = static_cast<int>(gridDim.y - 1 - blockIdx.y) * Head<kHS>::kRows;  // the longest rows first
    const int row0 = q0 + row_of_warp<kHS>();                                        // the warp's first query
    const int rows_here = T - row0;                        // queries from it on: the warp has at most kWarpRows
    const float* key = qkv + b * T * stride + C + h * HS;  // key[b, 0, h, :]; the next token's is 3C further
    const float* value = key + C;                          // value[b, 0, h, :]
    const int keys = min(q0 + Head<kHS>::kRows, T);        // tokens that some query of the block sees

    start_tile<kHS>(tiles.keys, key, stride, keys, HS, vectors);
    typename Head<kHS>::Queries queries;
    load_queries<kHS>(queries, qkv + (b * T + row0) * stride + h * HS, stride, rows_here, HS, vectors);
    Rows<kHS> rows;
#pragma unroll
    for (int i = 0; i < Head<kHS>::kRowTiles; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            rows.max[i][half] = -INFINITY;
            rows.sum[i][half] = 0.0f;
        }
#pragma unroll
        for (ptx::Accumulators& tile : rows.outs[i]) { tile = {}; }
    }
    // >>> solution
    //~ // TODO: for each tile of kKeys keys that has one for some query of the block: wait for its keys, start to copy its
    //~ // values; the scores, the mask where it is needed, fold_in; wait for the values, start to copy the next keys; and
    //~ // add_weighted_values. A warp all of whose queries come before the tile only copies. Each wait is for this thread's
    //~ // copies: what must follow it, before the tile is read and before the other one is overwritten?
    for (int k0 = 0; k0 < keys; k0 += kKeys) {
        const bool sees = k0 < row0 + Head<kHS>::kWarpRows;  // some query of the warp sees some key of the tile
        ptx::cp_async_wait<0>();
        __syncthreads();  // the keys are whole, and everyone has read the values before
        start_tile<kHS>(tiles.values, value + static_cast<long>(k0) * stride, stride, keys - k0, HS, vectors);
        typename Head<kHS>::Scores scores;
        if (sees) {
            multiply_queries_and_keys<kHS>(scores, queries, tiles);
            if (k0 + kKeys - 1 > row0) {  // some key of the tile comes after some query of the warp
                mask<kHS>(scores, k0 - row0);
            }
            fold_in<kHS>(rows, scores, scale_2);
        }
        ptx::cp_async_wait<0>();
        __syncthreads();  // the values are whole, and everyone has read the keys
        if (k0 + kKeys < keys) {
            start_tile<kHS>(tiles.keys, key + static_cast<long>(k0 + kKeys) * stride, stride, keys - k0 - kKeys, HS,
                            vectors);
        }
        if (sees) {
            add_weighted_values<kHS>(rows.outs, scores, tiles);
        }
    }
    // <<< solution

    float times[Head<kHS>::kRowTiles][2];
#pragma unroll
    for (int i = 0; i < Head<kHS>::kRowTiles; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float sum = reduce_group(rows.sum[i][half], [](float x, float y) { return x + y; });
            times[i][half] = 1.0f / sum;
            const int row = 16 * i + 8 * half + group_of_lane();
            if (number_in_group() == 0 && row < rows_here) {
                lse[(b * NH + h) * T + row0 + row] = kLn2 * (rows.max[i][half] + log2f(sum));
            }
        }
    }
    store_outs<kHS>(out + (b * T + row0) * C + h * HS, rows.outs, times, C, rows_here, HS, vectors);
}

template <int kHS>
void launch(float* out, float* lse, const float* qkv, int B, int T, int C, int NH, Context& ctx) {
    const int HS = C / NH;
    const float scale_2 = static_cast<float>(kLog2E / std::sqrt(static_cast<double>(HS)));
    const bool vectors = HS % 4 == 0 && C % 4 == 0 && is_aligned_16(out, qkv);
    constexpr std::size_t kBytes = sizeof(typename Head<kHS>::Tiles);
    const auto kernel = attention_forward_kernel<kHS>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));  // more than 48 KB of one
    const dim3 grid(B * NH, ceil_div(T, Head<kHS>::kRows));
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
