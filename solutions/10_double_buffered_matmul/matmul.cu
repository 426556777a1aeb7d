// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// Blocks, warps and threads compute the outputs that they compute in lesson 09. Shared memory holds two stages, each of
// kStep channels of both operands: while the products of one are summed, the next one is on its way into the other.
#include "checker/ptx.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

// The sizes. `make tune-lesson10` tries others.
constexpr int kBlockN = 128, kBlockOC = 128;  // rows and columns of out that a block computes
constexpr int kThreadN = 8, kThreadOC = 8;    // rows and columns that a thread computes, in groups of 4
constexpr int kStep = 16;                     // channels of a stage
constexpr bool kAsync = ptx::kHasCpAsync;     // by cp.async; else, on sm_75, a stage goes through registers

// What follows from them.
constexpr int kLanesN = 8, kLanesOC = 4;  // of a warp
constexpr int kWarpN = kLanesN * kThreadN, kWarpOC = kLanesOC * kThreadOC, kWarpsN = kBlockN / kWarpN;
constexpr int kThreads = 32 * kWarpsN * (kBlockOC / kWarpOC);
constexpr int kPad = 4;  // floats at the end of a stage's row that nobody uses: the next row begins 4 banks further
// Blocks for which a multiprocessor has room: registers, 128 for each thread, and, on sm_75, 64 KB of shared memory.
constexpr int kOfShared = 65536 / (2 * kStep * (kBlockN + kBlockOC + 2 * kPad) * static_cast<int>(sizeof(float)));
constexpr int kResident = kAsync || kOfShared > 512 / kThreads ? 512 / kThreads : kOfShared;
static_assert(kBlockN % kWarpN == 0 && kBlockOC % kWarpOC == 0, "kBlockN, kBlockOC: whole warps");
static_assert(kThreadN % 4 == 0 && kThreadOC % 4 == 0, "kThreadN, kThreadOC: whole float4s");
static_assert(kStep % 8 == 0, "kStep: a warp copies 8 channels of 4 rows");
static_assert(kBlockN % (kThreads / 8) == 0 && kBlockOC % (kThreads / 8) == 0, "kThreads: each copies as much");
static_assert(kResident > 0, "kBlockN, kBlockOC, kStep: a multiprocessor has registers for 512 threads, and 64 KB");

// One thread's part in copying kRows rows of an operand, stage after stage. A stage has one row per channel. A warp copies 8
// neighbouring channels of 4 rows: 4 whole sectors of global memory, and 32 banks.
template <int kRows>
class Copies {
  public:
    using Stage = float[kStep][kRows + kPad];  // operand[row0 + column, c0 + row]

    __device__ Copies(const float* operand,  // (rows, C), from the block's first row on
                      int rows, int C)
        : from_(operand), left_(C - channel()) {
#pragma unroll
        for (int i = 0; i < kPieces; i++) {
            // A row beyond the last one is the last one again: what comes of it is not stored.
            const int row = this->row(i);
            at_[i] = (row < rows ? row : rows - 1) * C + channel();
        }
    }

    // Starts to copy the operand's next kStep channels into `stage`; 0 beyond the last channel.
    __device__ void start(Stage& stage) {
        if constexpr (kAsync) {
            // >>> solution
            //~ // TODO: the copies that the else branch does through values_, by ptx::cp_async<4> straight into `stage`.
#pragma unroll
            for (int i = 0; i < kPieces; i++) {
#pragma unroll
                for (int k = 0; k < kStep; k += 8) {
                    ptx::cp_async<4>(&stage[channel() + k][row(i)], from_ + at_[i] + k, k < left_ ? 4 : 0);
                }
            }
            // <<< solution
        } else {
#pragma unroll
            for (int i = 0; i < kPieces; i++) {
#pragma unroll
                for (int k = 0; k < kStep; k += 8) { values_[i][k / 8] = k < left_ ? from_[at_[i] + k] : 0.0f; }
            }
        }
        from_ += kStep;
        left_ -= kStep;
    }

    // Waits until what this thread has started is in `stage`. The other threads' copies may still be on their way.
    __device__ void finish(Stage& stage) {
        if constexpr (kAsync) {
            // >>> solution
            //~ // TODO: wait for this thread's copies.
            ptx::cp_async_wait_all();
            // <<< solution
        } else {
#pragma unroll
            for (int i = 0; i < kPieces; i++) {
#pragma unroll
                for (int k = 0; k < kStep; k += 8) { stage[channel() + k][row(i)] = values_[i][k / 8]; }
            }
        }
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

    const float* from_;                 // the block's first row, at the next stage's first channel
    int left_;                          // channels from this thread's first one on
    int at_[kPieces];                   // this thread's rows and first channel; within a block's tile an int is enough
    float values_[kPieces][kStep / 8];  // on their way, where they go through registers
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

// ---- lesson 09's -------------------------------------------------------------------------------------------------------

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

__device__ void begin_with_bias(Sums& sums, const float* bias, long o0, int OC) {
#pragma unroll
    for (int j = 0; j < kThreadOC; j++) {
        const long o = o0 + column_of(j);
        const float first = bias && o < OC ? bias[o] : 0.0f;
#pragma unroll
        for (int i = 0; i < kThreadN; i++) { sums[i][j] = first; }
    }
}

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

__device__ void store(float* out, const Sums& sums, long n0, long o0, int N, int OC, int out_stride, bool store_4) {
    const int columns = static_cast<int>(OC - o0);  // from this thread's first one on
#pragma unroll
    for (int i = 0; i < kThreadN; i++) {
        const long n = n0 + row_of(i);  // long, as n * out_stride may pass 2^31
        if (n < N) {
            float* out_n = out + n * out_stride + o0;  // out[n, o0:]
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

// ---- the kernel --------------------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreads, kResident)
    matmul_forward_kernel(float* out,           // (N, out_stride)
                          const float* inp,     // (N, C)
                          const float* weight,  // (OC, C)
                          const float* bias,    // (OC), or null for none
                          int N, int C, int OC, int out_stride,
                          bool store_4) {  // whether each row of out starts at a multiple of 16 bytes
    __shared__ __align__(16) InpCopies::Stage inp_stages[2];
    __shared__ __align__(16) WeightCopies::Stage weight_stages[2];
    const Place tile = tile_of_block(N, OC), at = place_of_thread();
    const long n0 = tile.n, o0 = tile.o;  // long, as n0 * C may pass 2^31
    InpCopies of_inp(inp + n0 * C, N - tile.n, C);
    WeightCopies of_weight(weight + o0 * C, OC - tile.o, C);
    // >>> solution
    //~ // TODO: Sums, begun with the bias by begin_with_bias; the loop over stages of kStep channels, with one barrier in it;
    //~ // at the end `store`. of_inp and of_weight start and finish a stage, add_products sums it.
    Sums sums;
    begin_with_bias(sums, bias, o0 + at.o, OC);
    of_inp.start(inp_stages[0]);
    of_weight.start(weight_stages[0]);
    for (int left = C, stage = 0; left > 0; left -= kStep, stage ^= 1) {
        of_inp.finish(inp_stages[stage]);
        of_weight.finish(weight_stages[stage]);
        __syncthreads();  // the stage is whole, and everyone has read the other one
        if (left > kStep) {
            of_inp.start(inp_stages[stage ^ 1]);
            of_weight.start(weight_stages[stage ^ 1]);
        }
        add_products(sums, inp_stages[stage], weight_stages[stage], at);
    }
    store(out, sums, n0 + at.n, o0 + at.o, N, OC, out_stride, store_4);
    // <<< solution
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    const unsigned int blocks = ceil_div(N, kBlockN) * ceil_div(OC, kBlockOC);
    const bool store_4 = out_stride % 4 == 0 && is_aligned_16(out);
    matmul_forward_kernel<<<blocks, kThreads, 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, out_stride, store_4);
    check(cudaGetLastError());
}
