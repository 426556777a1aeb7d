// SPDX-License-Identifier: MIT
//
// scores[b, h, t, s] = query[b, t, h] . key[b, s, h], for s <= t
// lse[b, h, t]       = log of the sum over s <= t of exp(scores[b, h, t, s] / sqrt(HS))
// out[b, t, h]       = sum over s <= t of exp(scores[b, h, t, s] / sqrt(HS) - lse) * value[b, s, h]
//
// Both sums are products of matrices, so they go in tiles as in matmul.cpp: a tile of queries at a time, whose scores fit
// the L1 cache. No (T, T) matrix is written. Keys and values of a head are packed once, for all of its queries.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <experimental/simd>
#include <limits>
#include <numbers>

#include "lessons/gpt2/ops.h"

namespace {

namespace stdx = std::experimental;

using Vector = stdx::native_simd<float>;  // one register, as in matmul.cpp

constexpr int kLanes = static_cast<int>(Vector::size());
constexpr int kVectors = 2;               // vectors across a tile
constexpr int kCols = kVectors * kLanes;  // keys of a tile of scores, channels of a tile of out
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kRows = 8;  // queries of a tile: of 32 vector registers, 16 hold its sums
#else
constexpr int kRows = 4;  // of 16, 8 hold its sums
#endif
constexpr auto kAligned = stdx::vector_aligned;

constexpr std::size_t round_up(std::size_t n, std::size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

// Where the parts of the scratch begin, in floats: multiples of kLanes. They hold one head at a time.
struct Parts {
    std::size_t row;      // floats of a row of scores: T, in whole tiles
    std::size_t keys;     // row / kCols panels of (HS, kCols)
    std::size_t values;   // round_up(HS, kCols) / kCols panels of (T, kCols)
    std::size_t queries;  // of a tile, (HS, kRows)
    std::size_t scores;   // of a tile, (kRows, row)
    std::size_t sums;     // (kRows, kCols)
    std::size_t end;

    Parts(std::size_t T, std::size_t HS)
        : row(round_up(T, kCols)),
          keys(0),
          values(keys + row * HS),
          queries(values + T * round_up(HS, kCols)),
          scores(queries + round_up(HS * kRows, kLanes)),
          sums(scores + kRows * row),
          end(sums + kRows * kCols) {}
};

// Panels of kCols tokens: panel[i][s] = src[s][i]. A last panel with columns to spare repeats the last token.
void pack_keys(float* panels, const float* src, std::size_t stride, int T, int HS) {
    for (int s = 0; s < static_cast<int>(round_up(T, kCols)); s++) {
        float* column = panels + s / kCols * kCols * HS + s % kCols;
        const float* key_s = src + std::min(s, T - 1) * stride;
        for (int i = 0; i < HS; i++) { column[i * kCols] = key_s[i]; }
    }
}

// Panels of kCols channels: panel[s][i] = src[s][i]. A last panel with columns to spare has zeros there.
void pack_values(float* panels, const float* src, std::size_t stride, int T, int HS) {
    for (int i = 0; i < HS; i += kCols) {
        const int channels = std::min(kCols, HS - i);
        for (int s = 0; s < T; s++) {
            float* row = panels + i * T + s * kCols;
            std::fill(std::copy_n(src + s * stride + i, channels, row), row + kCols, 0.0f);
        }
    }
}

// tile[i][j] = sum over c < terms of left[i * of_row + c * of_term] * panel[c][j]
void multiply_tile(float* tile, std::size_t stride,                             // (kRows, stride)
                   const float* left, std::size_t of_row, std::size_t of_term,  //
                   const float* panel,                                          // (terms, kCols)
                   int terms) {
    Vector sum[kRows][kVectors] = {};
    for (int c = 0; c < terms; c++) {
#pragma GCC unroll 8
        for (int i = 0; i < kRows; i++) {
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; v++) {
                sum[i][v] += left[i * of_row + c * of_term] * Vector(panel + c * kCols + v * kLanes, kAligned);
            }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; i++) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; v++) { sum[i][v].copy_to(tile + i * stride + v * kLanes, kAligned); }
    }
}

// ln(2)^k / k!, the factors of 2^r's Taylor polynomial.
constexpr auto kTaylor = [] {
    std::array<float, 8> factors{1.0f};
    double factor = 1;
    for (int k = 1; k < 8; k++) { factors[k] = static_cast<float>(factor *= std::numbers::ln2 / k); }
    return factors;
}();

// 2^x for x <= 0, and exactly 0 from -127 down, so for -infinity too. With n an integer next to x and r = x - n,
// |r| <= 1/2, it is 2^n 2^r. 2^r is its polynomial to r^7, whose next term is below 2^-27; n + 127 are the exponent bits
// of 2^n.
Vector power_of_2(Vector x) {
    using Ints = stdx::rebind_simd_t<std::int32_t, Vector>;
    x = stdx::max(x, Vector(-127.0f));
    const Ints n = stdx::static_simd_cast<Ints>(x - 0.5f);  // cut towards 0
    const Vector r = x - stdx::static_simd_cast<Vector>(n);
    Vector p = kTaylor[7];
    for (int k = 6; k >= 0; k--) { p = p * r + kTaylor[k]; }
    return p * std::bit_cast<Vector>((n + 127) << 23);
}

// scores[s] becomes exp(scale * (scores[s] - the largest)) for s < n, and 0 for n <= s < end. Returns the sum. `end` is a
// multiple of kLanes.
float weigh(float* scores, float& lse, float scale, int n, int end) {
    std::fill(scores + n, scores + end, -std::numeric_limits<float>::infinity());
    Vector largest(scores, kAligned);
    for (int s = kLanes; s < end; s += kLanes) { largest = stdx::max(largest, Vector(scores + s, kAligned)); }
    const float max = stdx::hmax(largest);
    Vector sums = 0.0f;
    for (int s = 0; s < end; s += kLanes) {
        const Vector x = scale * (Vector(scores + s, kAligned) - max);
        const Vector weight = power_of_2(std::numbers::log2e_v<float> * x);
        weight.copy_to(scores + s, kAligned);
        sums += weight;
    }
    const float sum = stdx::reduce(sums);
    lse = scale * max + std::log(sum);
    return sum;
}

}  // namespace

std::size_t attention_scratch_bytes(int, int T, int C, int NH) {
    return sizeof(float) * Parts(T, C / NH).end;
}

void attention(float* out,        // (B, T, C)
               float* lse,        // (B, NH, T), as causal_softmax
               const float* qkv,  // (B, T, 3C)
               void* scratch,     // attention_scratch_bytes(B, T, C, NH), aligned to 64 bytes
               int B, int T, int C, int NH, Context&) {
    const int HS = C / NH;
    const float scale = 1.0f / std::sqrt(static_cast<float>(HS));
    const std::size_t stride = 3 * static_cast<std::size_t>(C);  // from a token to the next in qkv
    const Parts at(T, HS);
    float* const memory = static_cast<float*>(scratch);
    float *const keys = memory + at.keys, *const values = memory + at.values, *const queries = memory + at.queries;
    float *const scores = memory + at.scores, *const sums = memory + at.sums;

    for (int bh = 0; bh < B * NH; bh++) {
        const int b = bh / NH, h = bh % NH;
        const float* qkv_bh = qkv + b * T * stride + h * HS;  // query[b, 0, h, :]; key C floats further, value 2C
        pack_keys(keys, qkv_bh + C, stride, T, HS);
        pack_values(values, qkv_bh + 2 * C, stride, T, HS);
        for (int t0 = 0; t0 < T; t0 += kRows) {
            const int rows = std::min(kRows, T - t0);
            const int seen = t0 + rows;  // keys that the last of these queries looks at
            for (int i = 0; i < kRows; i++) {
                const float* query_t = qkv_bh + std::min(t0 + i, T - 1) * stride;
                for (int c = 0; c < HS; c++) { queries[c * kRows + i] = query_t[c]; }
            }
            for (int s = 0; s < seen; s += kCols) {
                multiply_tile(scores + s, at.row, queries, 1, kRows, keys + s * HS, HS);
            }
            float sum[kRows];
            for (int i = 0; i < rows; i++) {
                sum[i] = weigh(scores + i * at.row, lse[bh * T + t0 + i], scale, t0 + i + 1,
                               static_cast<int>(round_up(seen, kLanes)));
            }
            for (int c = 0; c < HS; c += kCols) {
                multiply_tile(sums, kCols, scores, at.row, 1, values + c * T, seen);
                for (int i = 0; i < rows; i++) {
                    float* out_t = out + (b * T + t0 + i) * C + h * HS + c;  // out[b, t, h, c:]
                    for (int j = 0; j < std::min(kCols, HS - c); j++) { out_t[j] = sums[i * kCols + j] / sum[i]; }
                }
            }
        }
    }
}
