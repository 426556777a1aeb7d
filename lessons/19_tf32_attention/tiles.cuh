// SPDX-License-Identifier: MIT
//
// What lesson 19 gives: tiles of keys and values in shared memory, which arrive by cp.async; the fragments of queries and
// keys, as lesson 18 loads them; and the way of the results to memory.
//
// A block of 4 warps computes rows of one head. A lane has the number q = lane % 4 in group g = lane / 4, and of each
// 16 rows of its warp the rows g and g + 8, which it shares with the other three lanes of its group.
#pragma once

#include "checker/ptx.h"

namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
constexpr int kKeys = 64;             // keys of a tile
constexpr int kKeyTiles = kKeys / 8;  // one instruction's keys each
constexpr int kLargest = 128;         // head size
constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// The tiles of a block and the fragments of a lane, for heads of at most kHS channels. Channels from HS to kHS
// are 0.
template <int kHS>
struct Head {
    static_assert(kHS % 32 == 0 && kHS <= kLargest, "the strides below are for such sizes");
    static constexpr int kRowTiles = kHS <= 64 ? 2 : 1;  // 16 rows each, per warp; two take too many registers for 128
    static constexpr int kWarpRows = 16 * kRowTiles, kRows = kWarps * kWarpRows;  // per warp, per block
    static constexpr int kSteps = kHS / 16;                                       // 16 channels each, two instructions
    static constexpr int kColumnTiles = kHS / 8;                                  // 8 channels of out each

    // A row of keys begins 16 banks after the row before, so that the 8 float4s of two rows have each bank once. A row of
    // values begins 4 banks after the row before: the lanes of a warp load from 4 rows that are 2 apart, 8 banks each.
    struct Tiles {
        float keys[kKeys][kHS + 16];   // key[b, k0 + row, h, :]
        float values[kKeys][kHS + 4];  // value[b, k0 + row, h, :]
    };

    using Queries = ptx::Tf32A[kRowTiles][kSteps][2];         // for both instructions of a step
    using Scores = ptx::Accumulators[kRowTiles][kKeyTiles];   // tile [i][j]: rows 16 i…, keys 8 j…
    using Outs = ptx::Accumulators[kRowTiles][kColumnTiles];  // tile [i][j]: rows 16 i…, channels 8 j…
};

__device__ inline int group_of_lane() {
    return static_cast<int>(threadIdx.x) % 32 / 4;
}
__device__ inline int number_in_group() {
    return static_cast<int>(threadIdx.x) % 4;
}

// The first row of a warp, from the block's first one on.
template <int kHS>
__device__ int row_of_warp() {
    return static_cast<int>(threadIdx.x) / 32 * Head<kHS>::kWarpRows;
}

// x of the four lanes that share their rows, joined by op: each of them gets the result. All 32 lanes call it together.
template <class Op>
__device__ float reduce_group(float x, Op op) {
#pragma unroll
    for (int distance = 2; distance > 0; distance /= 2) { x = op(x, __shfl_xor_sync(0xffffffffU, x, distance)); }
    return x;
}

// Starts to copy tile[row][c] = x[row * stride + c], by all threads of the block, and makes a group of its copies: `rows`
// rows of HS channels, 0 beyond them. 16 bytes at once where `vectors` says that each row begins at a multiple of them and
// that HS is a multiple of 4.
template <int kHS, int kStride>
__device__ void start_tile(float (&tile)[kKeys][kStride], const float* x, int stride, int rows, int HS, bool vectors) {
    if (vectors) {
        constexpr int kAcross = kHS / 4;  // threads that share a row
        const int c = static_cast<int>(threadIdx.x) % kAcross * 4, row0 = static_cast<int>(threadIdx.x) / kAcross;
        const float* from = x + row0 * stride + (c < HS ? c : 0);
#pragma unroll
        for (int i = 0; i < kKeys; i += kThreads / kAcross) {
            const bool exists = row0 + i < rows && c < HS;
            ptx::cp_async<16>(&tile[row0 + i][c], exists ? from + i * stride : x, exists ? 16 : 0);
        }
    } else {
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < kKeys * kHS; i += kThreads) {
            const int row = i / kHS, c = i % kHS;
            const bool exists = row < rows && c < HS;
            ptx::cp_async<4>(&tile[row][c], exists ? x + row * stride + c : x, exists ? 4 : 0);
        }
    }
    ptx::cp_async_commit();
}

// Loads the fragments of a warp's queries, the first of which is row 0 of `query`: rows that do not exist and channels from
// HS on are 0. As in lesson 18 a lane takes 4 neighbours of 16 channels, two for each of two instructions.
template <int kHS>
__device__ void load_queries(typename Head<kHS>::Queries& queries, const float* query, int stride, int rows, int HS,
                             bool vectors) {
#pragma unroll
    for (int i = 0; i < Head<kHS>::kRowTiles; i++) {
#pragma unroll
        for (int step = 0; step < Head<kHS>::kSteps; step++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = 16 * i + 8 * half + group_of_lane(), c = 16 * step + 4 * number_in_group();
                const float* from = query + row * stride + c;
                alignas(16) float x[4] = {};
                if (vectors && row < rows && c < HS) {
                    *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(from);
                } else {
#pragma unroll
                    for (int l = 0; l < 4; l++) { x[l] = row < rows && c + l < HS ? from[l] : 0.0f; }
                }
#pragma unroll
                for (int l = 0; l < 4; l++) { queries[i][step][l / 2].x[half + l % 2 * 2] = ptx::to_tf32(x[l]); }
            }
        }
    }
}

struct KeyFragments {
    ptx::Tf32B of[2];  // for both instructions of a step
};

// Loads the fragments of 8 keys, from `key` on, and of the 16 channels of a step.
template <int kStride>
__device__ KeyFragments load_keys(const float (&keys)[kKeys][kStride], int key, int step) {
    const float* from = &keys[key + group_of_lane()][16 * step + 4 * number_in_group()];
    const float4 x = *reinterpret_cast<const float4*>(from);
    return {{{{ptx::to_tf32(x.x), ptx::to_tf32(x.y)}}, {{ptx::to_tf32(x.z), ptx::to_tf32(x.w)}}}};
}

// scores = the warp's queries times the tile's keys
template <int kHS>
__device__ void multiply_queries_and_keys(typename Head<kHS>::Scores& scores,
                                          const typename Head<kHS>::Queries& queries,
                                          const typename Head<kHS>::Tiles& tiles) {
#pragma unroll
    for (int j = 0; j < kKeyTiles; j++) {
#pragma unroll
        for (int i = 0; i < Head<kHS>::kRowTiles; i++) { scores[i][j] = {}; }
#pragma unroll
        for (int step = 0; step < Head<kHS>::kSteps; step++) {
            const KeyFragments keys = load_keys(tiles.keys, 8 * j, step);
#pragma unroll
            for (int k = 0; k < 2; k++) {
#pragma unroll
                for (int i = 0; i < Head<kHS>::kRowTiles; i++) {
                    ptx::mma_m16n8k8(scores[i][j], queries[i][step][k], keys.of[k]);
                }
            }
        }
    }
}

// out[16 i + 8 half + g, c] = outs[i][j], times times[i][half], for the rows below `rows` and the channels below HS; rows
// of out are `stride` apart.
template <int kHS>
__device__ void store_outs(float* out, const typename Head<kHS>::Outs& outs,
                           const float (&times)[Head<kHS>::kRowTiles][2], int stride, int rows, int HS, bool vectors) {
#pragma unroll
    for (int i = 0; i < Head<kHS>::kRowTiles; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = 16 * i + 8 * half + group_of_lane();
            if (row < rows) {
#pragma unroll
                for (int j = 0; j < Head<kHS>::kColumnTiles; j++) {
                    const int c = 8 * j + 2 * number_in_group();
                    const float first = outs[i][j].x[2 * half] * times[i][half];
                    const float second = outs[i][j].x[2 * half + 1] * times[i][half];
                    float* to = out + row * stride + c;
                    if (vectors && c < HS) {
                        *reinterpret_cast<float2*>(to) = make_float2(first, second);
                    } else {
                        if (c < HS) {
                            to[0] = first;
                        }
                        if (c + 1 < HS) {
                            to[1] = second;
                        }
                    }
                }
            }
        }
    }
}

}  // namespace
