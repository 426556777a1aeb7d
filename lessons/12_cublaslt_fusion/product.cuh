// SPDX-License-Identifier: MIT
//
// Lesson 10's product up to the point where its sums are complete: the blocks, the two stages, the copies by cp.async. What becomes
// of the sums before they are stored is up to the file that includes this.
#pragma once

#include "checker/ptx.h"

namespace {

constexpr int kBlockN = 128, kBlockOC = 128;  // rows and columns of out that a block computes
constexpr int kThreadN = 8, kThreadOC = 8;    // rows and columns that a thread computes, in groups of 4
constexpr int kStep = 16;                     // channels of a stage
constexpr int kLanesN = 8, kLanesOC = 4;      // of a warp
constexpr int kWarpN = kLanesN * kThreadN, kWarpOC = kLanesOC * kThreadOC, kWarpsN = kBlockN / kWarpN;
constexpr int kThreads = 32 * kWarpsN * (kBlockOC / kWarpOC);
// Blocks for which a multiprocessor has room: registers, 128 for each thread; sm_75 has 64 KB of shared memory, which is one.
constexpr int kResident = ptx::kHasCpAsync ? 512 / kThreads : 1;
constexpr int kPad = 4;  // floats at the end of a stage's row that nobody uses

// One thread's part in copying kRows rows of an operand, stage after stage. A stage has one row per channel.
template <int kRows>
class Copies {
  public:
    using Stage = float[kStep][kRows + kPad];  // operand[row0 + column, c0 + row]

    __device__ Copies(const float* operand,  // (rows, C), from the block's first row on
                      int rows, int C)
        : from_(operand), left_(C - channel()) {
#pragma unroll
        for (int i = 0; i < kPieces; i++) {
            const int row = this->row(i);  // beyond the last one it is the last one again, and not stored
            at_[i] = (row < rows ? row : rows - 1) * C + channel();
        }
    }

    // Starts to copy the operand's next kStep channels into `stage`; 0 beyond the last channel.
    __device__ void start(Stage& stage) {
#pragma unroll
        for (int i = 0; i < kPieces; i++) {
#pragma unroll
            for (int k = 0; k < kStep; k += 8) {
                ptx::cp_async<4>(&stage[channel() + k][row(i)], from_ + at_[i] + k, k < left_ ? 4 : 0);
            }
        }
        from_ += kStep;
        left_ -= kStep;
    }

  private:
    static constexpr int kApart = kThreads / 8;  // rows between two of a thread's
    static constexpr int kPieces = kRows / kApart;
    static __device__ int channel() {
        return static_cast<int>(threadIdx.x) % 8;
    }
    static __device__ int row(int i) {
        return static_cast<int>(threadIdx.x) / 8 + i * kApart;
    }

    const float* from_;  // the block's first row, at the next stage's first channel
    int left_;           // channels from this thread's first one on
    int at_[kPieces];    // this thread's rows and first channel
};
using InpCopies = Copies<kBlockN>;
using WeightCopies = Copies<kBlockOC>;

struct Place {
    int n, o;
};

// The first row and column of a block's tile of out. kTogether rows of tiles are walked together, column by column: the
// blocks that run at the same time then make up a square of out, and share what they load.
constexpr int kTogether = 16;
__device__ Place tile_of_block(int N, int OC) {
    const int tiles_n = (N - 1) / kBlockN + 1, tiles_o = (OC - 1) / kBlockOC + 1;
    const int block = static_cast<int>(blockIdx.x);
    const int first = block / (kTogether * tiles_o) * kTogether, at = block % (kTogether * tiles_o);
    const int rows = tiles_n - first < kTogether ? tiles_n - first : kTogether;
    return {(first + at % rows) * kBlockN, at / rows * kBlockOC};
}

// The first row and column of a thread's outputs in the block's tile, and from there to its row i and its column j.
__device__ Place place_of_thread() {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int lane_n = lane / 2 % kLanesN, lane_o = lane % 2 + lane / 16 * 2;
    return {warp % kWarpsN * kWarpN + 4 * lane_n, warp / kWarpsN * kWarpOC + 4 * lane_o};
}
__device__ int row_of(int i) {
    return i / 4 * 4 * kLanesN + i % 4;
}
__device__ int column_of(int j) {
    return j / 4 * 4 * kLanesOC + j % 4;
}

using Sums = float[kThreadN][kThreadOC];  // of out[n0 + row_of(i), o0 + column_of(j)]

// sums[i][j] += the products of a stage's channels.
__device__ void add_products(Sums& sums, const InpCopies::Stage& inp, const WeightCopies::Stage& weight, Place at) {
#pragma unroll
    for (int k = 0; k < kStep; k++) {
        alignas(16) float a[kThreadN], b[kThreadOC];
#pragma unroll
        for (int i = 0; i < kThreadN; i += 4) {
            *reinterpret_cast<float4*>(a + i) = *reinterpret_cast<const float4*>(&inp[k][at.n + row_of(i)]);
        }
#pragma unroll
        for (int j = 0; j < kThreadOC; j += 4) {
            *reinterpret_cast<float4*>(b + j) = *reinterpret_cast<const float4*>(&weight[k][at.o + column_of(j)]);
        }
#pragma unroll
        for (int i = 0; i < kThreadN; i++) {
#pragma unroll
            for (int j = 0; j < kThreadOC; j++) { sums[i][j] += a[i] * b[j]; }
        }
    }
}

// Sums the products of this thread's outputs. Returns the place of sums[0][0] in out; that of sums[i][j] is row_of(i) rows and
// column_of(j) columns further on, which may be beyond N or OC.
__device__ Place sum_products(Sums& sums,
                              const float* inp,     // (N, C)
                              const float* weight,  // (OC, C)
                              int N, int C, int OC) {
    __shared__ __align__(16) InpCopies::Stage inp_stages[2];
    __shared__ __align__(16) WeightCopies::Stage weight_stages[2];
    const Place tile = tile_of_block(N, OC), at = place_of_thread();
    const long n0 = tile.n, o0 = tile.o;  // long, as n0 * C may pass 2^31
    InpCopies of_inp(inp + n0 * C, N - tile.n, C);
    WeightCopies of_weight(weight + o0 * C, OC - tile.o, C);
    of_inp.start(inp_stages[0]);
    of_weight.start(weight_stages[0]);
    for (int left = C, stage = 0; left > 0; left -= kStep, stage ^= 1) {
        ptx::cp_async_wait_all();
        __syncthreads();  // the stage is whole, and everyone has read the other one
        if (left > kStep) {
            of_inp.start(inp_stages[stage ^ 1]);
            of_weight.start(weight_stages[stage ^ 1]);
        }
        add_products(sums, inp_stages[stage], weight_stages[stage], at);
    }
    return {tile.n + at.n, tile.o + at.o};
}

// Stores what is in the sums: out is (N, OC), `at` the place of sums[0][0].
__device__ void store(float* out, const Sums& sums, Place at, int N, int OC, bool store_4) {
    const int columns = OC - at.o;  // from this thread's first one on
#pragma unroll
    for (int i = 0; i < kThreadN; i++) {
        const long n = at.n + row_of(i);  // long, as n * OC may pass 2^31
        if (n < N) {
            float* out_n = out + n * OC + at.o;  // out[n, at.o:]
#pragma unroll
            for (int j = 0; j < kThreadOC; j += 4) {
                const int o = column_of(j);
                if (store_4 && o + 3 < columns) {
                    *reinterpret_cast<float4*>(out_n + o) =
                        make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
                } else {
#pragma unroll
                    for (int l = 0; l < 4; l++) {
                        if (o + l < columns) {
                            out_n[o + l] = sums[i][j + l];
                        }
                    }
                }
            }
        }
    }
}

}  // namespace
