// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// A tile of out at a time, its sums in vector registers. Both inputs are packed first, so that the innermost loop reads
// them front to back; a block of packed weight stays in the L2 cache while all rows of inp pass it. The sum over c
// goes block by block: the first starts from the bias, the others add to out.
#include <algorithm>
#include <cstddef>
#include <experimental/simd>
#include <thread>
#include <vector>

#include "lessons/gpt2/ops.h"

namespace {

namespace stdx = std::experimental;

using Vector = stdx::native_simd<float>;  // one register: 16 floats with AVX-512, 8 with AVX2, 4 with NEON

constexpr int kLanes = static_cast<int>(Vector::size());
constexpr int kVectors = 3;                // vectors across a tile
constexpr int kTileO = kVectors * kLanes;  // channels of a tile
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kTileN = 8;  // rows of a tile: of 32 vector registers, 24 hold its sums
#else
constexpr int kTileN = 4;  // of 16, 12 hold its sums
#endif
constexpr int kBlockC = 768;         // terms of the sum that are packed at a time
constexpr int kBlockO = 4 * kTileO;  // channels of weight that are packed at a time: 590 KB with AVX-512, 295 with AVX2
constexpr std::size_t kWeightFloats = std::size_t{kBlockO} * kBlockC;

constexpr int round_up(int n, int multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

// Packs src, kTile rows to a panel: panel[c][i] = src[row + i][c]. A last panel with rows to spare repeats the last row
// of src; what comes of that is not stored.
template <int kTile>
void pack(float* panels,     // round_up(rows, kTile) / kTile panels of (cols, kTile)
          const float* src,  // (rows, stride), of which cols columns are packed
          std::size_t stride, int rows, int cols) {
    constexpr int kRows = std::min(kTile, 12);  // copied together: a pointer to each fits the general registers
    static_assert(kTile % kRows == 0, "kTile: rows that are copied together belong to one panel");
    // >>> solution
    //~ // TODO: kRows rows at a time: const float* src_rows[kRows] (beyond the last row, the last row again), then for
    //~ // each c the kRows floats src_rows[i][c], side by side. Rows row to row + kRows - 1 belong to the panel that
    //~ // begins at panels + row / kTile * kTile * cols, from its element [0][row % kTile] on.
    for (int row = 0; row < round_up(rows, kTile); row += kRows) {
        float* panel = panels + row / kTile * kTile * cols + row % kTile;
        const float* src_rows[kRows];
        for (int i = 0; i < kRows; i++) { src_rows[i] = src + std::min(row + i, rows - 1) * stride; }
        for (int c = 0; c < cols; c++) {
            for (int i = 0; i < kRows; i++) { panel[c * kTile + i] = src_rows[i][c]; }
        }
    }
    // <<< solution
}

// tile[i][o] = sum over c < cols of inp_panel[c][i] * weight_panel[c][o]. The loops over i and v must be unrolled
// whole: an array whose indices are all constants is kept in registers, any other in memory.
void multiply_tile(float* tile,                // (kTileN, kTileO)
                   const float* inp_panel,     // (cols, kTileN)
                   const float* weight_panel,  // (cols, kTileO)
                   int cols) {
    constexpr auto aligned = stdx::vector_aligned;
    // >>> solution
    //~ // TODO: an array sum of kTileN x kVectors Vectors, 0 at first. For each c, i and v: add inp_panel[c][i] times the
    //~ // kLanes floats from weight_panel[c][v * kLanes] on. Last, copy the sums to tile.
    //~ //   load: Vector(pointer, aligned)   store: vector.copy_to(pointer, aligned)   unroll: #pragma GCC unroll kTileN
    Vector sum[kTileN][kVectors] = {};
    for (int c = 0; c < cols; c++) {
        const float* weight_c = weight_panel + c * kTileO;
#pragma GCC unroll kTileN
        for (int i = 0; i < kTileN; i++) {
#pragma GCC unroll kVectors
            for (int v = 0; v < kVectors; v++) {
                sum[i][v] += inp_panel[c * kTileN + i] * Vector(weight_c + v * kLanes, aligned);
            }
        }
    }
#pragma GCC unroll kTileN
    for (int i = 0; i < kTileN; i++) {
#pragma GCC unroll kVectors
        for (int v = 0; v < kVectors; v++) { sum[i][v].copy_to(tile + i * kTileO + v * kLanes, aligned); }
    }
    // <<< solution
}

// Writes the part of a tile that lies inside out, rows x channels of it. `first` says that the tile is the first block
// of its sums, which starts from the bias (or 0); a later one adds to out.
void store_tile(float* out,         // (rows, out_stride), from the tile's first element on
                const float* tile,  // (kTileN, kTileO)
                const float* bias,  // (channels), or null for none
                int rows, int channels, std::size_t out_stride, bool first) {
    // >>> solution
    //~ // TODO: two loops, rows and channels. Nothing beyond them is yours to write.
    for (int i = 0; i < rows; i++) {
        float* out_i = out + i * out_stride;
        for (int o = 0; o < channels; o++) {
            const float start = !first ? out_i[o] : bias != nullptr ? bias[o] : 0.0f;
            out_i[o] = start + tile[i * kTileO + o];
        }
    }
    // <<< solution
}

// Channels [begin, end) of out, all rows.
void multiply_channels(float* out, const float* inp_panels, const float* weight, const float* bias, int begin, int end,
                       int N, int C, std::size_t out_stride, float* weight_panels) {
    alignas(64) float tile[kTileN * kTileO];
    // >>> solution
    //~ // TODO: blocks of kBlockO channels from o0; in each, blocks of kBlockC terms from c0: pack that block of weight,
    //~ // then walk over its tiles, rows n outside, channels o inside, and multiply and store each. The panels of
    //~ // block c0 of inp begin at round_up(N, kTileN) * c0, and in a block panel n begins at n * cols.
    for (int o0 = begin; o0 < end; o0 += kBlockO) {
        const int channels = std::min(kBlockO, end - o0);
        for (int c0 = 0; c0 < C; c0 += kBlockC) {
            const int cols = std::min(kBlockC, C - c0);
            const float* weight_block = weight + static_cast<std::size_t>(o0) * C + c0;  // weight[o0, c0]
            pack<kTileO>(weight_panels, weight_block, C, channels, cols);
            const float* inp_block = inp_panels + static_cast<std::size_t>(round_up(N, kTileN)) * c0;
            for (int n = 0; n < N; n += kTileN) {
                for (int o = 0; o < channels; o += kTileO) {
                    multiply_tile(tile, inp_block + n * cols, weight_panels + o * cols, cols);
                    store_tile(out + n * out_stride + o0 + o, tile, bias != nullptr ? bias + o0 + o : nullptr,
                               std::min(kTileN, N - n), std::min(kTileO, channels - o), out_stride, c0 == 0);
                }
            }
        }
    }
    // <<< solution
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    // The workspace holds a block of weight for each thread, and all of inp, which the threads share.
    const std::size_t rows = round_up(N, kTileN);
    float* weight_panels = ctx.workspace<float>(kWeightFloats * ctx.threads + rows * C);
    float* inp_panels = weight_panels + kWeightFloats * ctx.threads;
    for (int c0 = 0; c0 < C; c0 += kBlockC) {
        pack<kTileN>(inp_panels + rows * c0, inp + c0, C, N, std::min(kBlockC, C - c0));
    }
    // >>> solution
    //~ multiply_channels(out, inp_panels, weight, bias, 0, OC, N, C, out_stride, weight_panels);
    //~ // TODO, last of all: ctx.threads threads instead of one (std::jthread), each with channels and a block of
    //~ // weight_panels of its own.
    const auto first_channel = [&](int thread) {  // of a thread: a multiple of kTileO, so that tiles stay whole
        const int tiles = round_up(OC, kTileO) / kTileO;
        return std::min(OC, tiles * thread / ctx.threads * kTileO);
    };
    const auto run = [&](int thread) {
        multiply_channels(out, inp_panels, weight, bias, first_channel(thread), first_channel(thread + 1), N, C,
                          out_stride, weight_panels + thread * kWeightFloats);
    };
    std::vector<std::jthread> others;
    for (int thread = 1; thread < ctx.threads; thread++) { others.emplace_back(run, thread); }
    run(0);
    // <<< solution
}
