// SPDX-License-Identifier: MIT
//
// What lesson 16 gives: the tiles in shared memory, which thread has which rows and columns of them, and the two products,
// which are lesson 08's with 8 by 8 outputs for each thread.
//
// A block computes kQueries rows of one head, kRows of them by each group of kLanes neighbouring lanes: all 8 lanes of a
// group have the same rows, and every eighth key or some of the columns of the values.
#pragma once

namespace {

constexpr int kQueries = 64;  // rows of a head that a block computes
constexpr int kRows = 8;      // rows that a thread computes
constexpr int kLanes = 8;     // lanes that share their rows
constexpr int kThreads = kQueries / kRows * kLanes;
constexpr int kPart = 16;      // keys whose weights are in shared memory at a time: with 32 an A100 holds a block less
constexpr int kLargest = 128;  // head size
constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;
static_assert(32 % kLanes == 0, "lanes that share rows are in one warp");

// A row of a thread, from the block's first query on; a key of a thread, from its tile's first key on. Lanes of a warp that
// load from different rows at once load from neighbouring ones, whose banks differ.
__device__ inline int row_of(int i) {
    constexpr int kGroups = 32 / kLanes;  // of lanes, in a warp
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 32 * kGroups * kRows + thread % 32 / kLanes + i * kGroups;
}
__device__ inline int key_of(int j) {
    return static_cast<int>(threadIdx.x) % kLanes + j * kLanes;
}

// The tiles of a block, and a thread's part of what is computed, for heads of at most kHS channels. Channels from HS to kHS
// are 0. A row has 4 floats more, so that the next one begins 4 banks further.
template <int kHS>
struct Head {
    static_assert(kHS % (4 * kLanes) == 0 && kHS <= kLargest, "float4s of all lanes");
    static constexpr int kKeys = kHS <= 64 ? 64 : 32;  // keys of a tile: all tiles have 64 KB at most, as sm_75 has
    static constexpr int kStride = kHS + 4;
    static constexpr int kColumns = kHS / kLanes;  // channels of out that a thread computes, in groups of 4

    struct Tiles {
        float query[kQueries][kStride];      // query[b, q0 + row, h, :]
        float of_keys[kKeys][kStride];       // key[b, k0 + row, h, :], then value[b, k0 + row, h, :]
        float weights[kQueries][kPart + 8];  // of kPart of the tile's keys
    };

    using Scores = float[kRows][kKeys / kLanes];  // of query row_of(i) and key key_of(j); later their weights
    using Outs = float[kRows][kColumns];          // of query row_of(i), channel column_of(j)

    static __device__ int column_of(int j) {
        return (j / 4 * kLanes + static_cast<int>(threadIdx.x) % kLanes) * 4 + j % 4;
    }
};

// x of the kLanes lanes that share their rows, joined by op: each of them gets the result, by a part of lesson 13's
// warp_reduce. All 32 lanes of a warp call it together.
template <class Op>
__device__ float reduce_lanes(float x, Op op) {
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
        x = op(x, __shfl_xor_sync(0xffffffffU, x, distance));
    }
    return x;
}

// 4 floats, as one access.
__device__ inline void copy_4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}

// tile[row][c] = x[row * stride + c], by all threads of the block: `rows` rows of HS channels, 0 beyond them. float4s where
// `vectors` says that each row begins at a multiple of 16 bytes and that HS is a multiple of 4.
template <int kTileRows, int kStride>
__device__ void load_tile(float (&tile)[kTileRows][kStride], const float* x, long stride, int rows, int HS,
                          bool vectors) {
    constexpr unsigned int kColumns = kStride - 4, kFours = kColumns / 4, kRowsAtOnce = kThreads / kFours;
    static_assert(kThreads % kFours == 0 && kTileRows % kRowsAtOnce == 0,
                  "a thread loads 4 channels of each of its rows");
    if (vectors) {
        int row = static_cast<int>(threadIdx.x / kFours);
        const int c = static_cast<int>(threadIdx.x % kFours) * 4;
        const float* x_row = x + row * stride + c;
#pragma unroll 4
        for (unsigned int i = 0; i < kTileRows / kRowsAtOnce; i++) {
            float4 loaded = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (row < rows && c < HS) {
                loaded = *reinterpret_cast<const float4*>(x_row);
            }
            *reinterpret_cast<float4*>(&tile[row][c]) = loaded;
            row += kRowsAtOnce;
            x_row += kRowsAtOnce * stride;
        }
    } else {
#pragma unroll 1
        for (unsigned int i = threadIdx.x; i < kTileRows * kColumns; i += kThreads) {
            const int row = static_cast<int>(i / kColumns), c = static_cast<int>(i % kColumns);
            tile[row][c] = row < rows && c < HS ? x[row * stride + c] : 0.0f;
        }
    }
}

// scores[i][j] = query row_of(i) . key key_of(j)
template <int kHS>
__device__ void multiply_queries_and_keys(typename Head<kHS>::Scores& scores, const typename Head<kHS>::Tiles& tiles) {
    constexpr int kMine = Head<kHS>::kKeys / kLanes;
#pragma unroll
    for (int i = 0; i < kRows; i++) {
#pragma unroll
        for (int j = 0; j < kMine; j++) { scores[i][j] = 0.0f; }
    }
#pragma unroll 2
    for (int c = 0; c < kHS; c += 4) {
        alignas(16) float query[kRows][4], key[4];
#pragma unroll
        for (int i = 0; i < kRows; i++) { copy_4(query[i], &tiles.query[row_of(i)][c]); }
#pragma unroll
        for (int j = 0; j < kMine; j++) {
            copy_4(key, &tiles.of_keys[key_of(j)][c]);
#pragma unroll
            for (int l = 0; l < 4; l++) {
#pragma unroll
                for (int i = 0; i < kRows; i++) { scores[i][j] += query[i][l] * key[l]; }
            }
        }
    }
}

// tiles.weights = the weights of keys `first` to first + kPart - 1 of the tile, each warp those of its rows.
template <int kHS>
__device__ void store_weights(typename Head<kHS>::Tiles& tiles, const typename Head<kHS>::Scores& weights, int first) {
#pragma unroll
    for (int i = 0; i < kRows; i++) {
#pragma unroll
        for (int j = 0; j < Head<kHS>::kKeys / kLanes; j++) {
            if (j * kLanes >= first && j * kLanes < first + kPart) {
                tiles.weights[row_of(i)][key_of(j) - first] = weights[i][j];
            }
        }
    }
}

// outs[i][j] += tiles.weights of row_of(i) . column column_of(j) of the values `first` to first + kPart - 1 of the tile
template <int kHS>
__device__ void add_weighted_values(typename Head<kHS>::Outs& outs, const typename Head<kHS>::Tiles& tiles, int first) {
    constexpr int kColumns = Head<kHS>::kColumns;
#pragma unroll 2
    for (int k = 0; k < kPart; k += 4) {
        alignas(16) float weights[kRows][4], value[kColumns];
#pragma unroll
        for (int i = 0; i < kRows; i++) { copy_4(weights[i], &tiles.weights[row_of(i)][k]); }
#pragma unroll
        for (int l = 0; l < 4; l++) {
#pragma unroll
            for (int j = 0; j < kColumns; j += 4) {
                copy_4(value + j, &tiles.of_keys[first + k + l][Head<kHS>::column_of(j)]);
            }
#pragma unroll
            for (int i = 0; i < kRows; i++) {
#pragma unroll
                for (int j = 0; j < kColumns; j++) { outs[i][j] += weights[i][l] * value[j]; }
            }
        }
    }
}

// out[row, c] = outs[i][j] * times[i] for the rows below `rows` and the channels below HS; rows of out are `stride` apart.
template <int kHS>
__device__ void store_outs(float* out, typename Head<kHS>::Outs& outs, const float (&times)[kRows], long stride,
                           int rows, int HS, bool vectors) {
    constexpr int kColumns = Head<kHS>::kColumns;
#pragma unroll
    for (int i = 0; i < kRows; i++) {
        if (row_of(i) < rows) {
            float* out_t = out + row_of(i) * stride;
#pragma unroll
            for (int j = 0; j < kColumns; j += 4) {
                const int c = Head<kHS>::column_of(j);
                alignas(16) float mine[4];
#pragma unroll
                for (int l = 0; l < 4; l++) { mine[l] = outs[i][j + l] * times[i]; }
                if (vectors && c < HS) {
                    copy_4(out_t + c, mine);
                } else {
#pragma unroll
                    for (int l = 0; l < 4; l++) {
                        if (c + l < HS) {
                            out_t[c + l] = mine[l];
                        }
                    }
                }
            }
        }
    }
}

}  // namespace
