// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// A block computes a tile of out, a warp of it 8 by 4 lanes' outputs, a lane kThreadN by kThreadOC of them in registers.
// While the products of one stage are summed the next one is on its way into the other half of shared memory. Sizes are
// in tiles.h.
#include "checker/ptx.h"
#include "lessons/09_warp_tiled_matmul/tiles.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

// kRows rows of an operand on their way into shared memory, kStep channels a stage, a row of the stage for each channel.
// A warp moves 8 neighbouring channels of 4 rows at once: 4 whole sectors of global memory, and 32 banks.
template <class Tile, int kRows>
class Copies {
  public:
    using Stage = float[Tile::kStep][kRows + Tile::kPad];  // operand[row0 + column, c0 + row]

    __device__ Copies(const float* operand,  // (rows, C), from the block's first row on
                      long rows, int C)
        : from_(operand), left_(C - channel()) {
#pragma unroll
        for (int i = 0; i < kPieces; i++) {
            // Beyond the last row it is the last one again: what comes of it is not stored.
            const long row = this->row(i);
            at_[i] = static_cast<int>(row < rows ? row : rows - 1) * C + channel();
        }
    }

    // Sends the operand's next kStep channels on their way into `stage`; 0 beyond the last channel.
    __device__ void start(Stage& stage) {
        // >>> solution
        //~ // TODO: for each i below kPieces and each k of 0, 8, … below kStep one float, from_[at_[i] + k] or, for k from
        //~ // left_ on, 0: by ptx::cp_async<4>, which may take 0 bytes, where Tile::kWay is async, else into values_.
#pragma unroll
        for (int i = 0; i < kPieces; i++) {
#pragma unroll
            for (int k = 0; k < Tile::kStep; k += 8) {
                const float* from = from_ + at_[i] + k;
                if constexpr (Tile::kWay == Way::async) {
                    ptx::cp_async<4>(&stage[channel() + k][row(i)], from, k < left_ ? 4 : 0);
                } else {
                    values_[i][k / 8] = k < left_ ? *from : 0.0f;
                }
            }
        }
        // <<< solution
        from_ += Tile::kStep;
        left_ -= Tile::kStep;
    }

    // Waits until what this thread has started is in `stage`, for this thread.
    __device__ void finish(Stage& stage) {
        // >>> solution
        //~ // TODO: where Tile::kWay is async wait for the copies, else store values_.
        if constexpr (Tile::kWay == Way::async) {
            ptx::cp_async_wait_all();
        } else {
#pragma unroll
            for (int i = 0; i < kPieces; i++) {
#pragma unroll
                for (int k = 0; k < Tile::kStep; k += 8) { stage[channel() + k][row(i)] = values_[i][k / 8]; }
            }
        }
        // <<< solution
    }

  private:
    static constexpr int kApart = Tile::kThreads / 8;  // rows
    static constexpr int kPieces = kRows / kApart;
    static __device__ int channel() {
        return static_cast<int>(threadIdx.x) % 8;
    }
    static __device__ int row(int i) {
        return static_cast<int>(threadIdx.x) / 8 + i * kApart;
    }

    const float* from_;                       // the block's first row, the next stage's first channel
    int left_;                                // channels from this thread's first one on
    int at_[kPieces];                         // this thread's rows; within a block's tile an int is enough
    float values_[kPieces][Tile::kStep / 8];  // on their way, where they go through registers
};

template <class Tile>
using Sums = float[Tile::kThreadN][Tile::kThreadOC];

// The first row and column of a lane's outputs within the block's tile. The others follow in groups of 4, a group every
// 32 rows and every 16 columns: so the lanes' float4s lie side by side.
struct Place {
    int n, o;
};
template <class Tile>
__device__ Place place_of_lane() {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int lane_n = lane / 2 % 8, lane_o = lane % 2 + lane / 16 * 2;  // half a warp has 8 rows of float4s: 32 banks
    return {warp % Tile::kWarpsN * Tile::kWarpN + 4 * lane_n, warp / Tile::kWarpsN * Tile::kWarpOC + 4 * lane_o};
}
__device__ int row_of(int i) {
    return i / 4 * 32 + i % 4;
}
__device__ int column_of(int j) {
    return j / 4 * 16 + j % 4;
}

// sums[i][j] += the products of a stage's channels.
template <class Tile>
__device__ void add_products(Sums<Tile>& sums, const typename Copies<Tile, Tile::kBlockN>::Stage& inp,
                             const typename Copies<Tile, Tile::kBlockOC>::Stage& weight, Place at) {
    // >>> solution
    //~ // TODO: for each channel kThreadN floats of inp and kThreadOC of weight into registers, 4 at a time, and their products.
#pragma unroll
    for (int k = 0; k < Tile::kStep; k++) {
        alignas(16) float rows[Tile::kThreadN];
        alignas(16) float columns[Tile::kThreadOC];
#pragma unroll
        for (int i = 0; i < Tile::kThreadN; i += 4) {
            *reinterpret_cast<float4*>(&rows[i]) = *reinterpret_cast<const float4*>(&inp[k][at.n + row_of(i)]);
        }
#pragma unroll
        for (int j = 0; j < Tile::kThreadOC; j += 4) {
            *reinterpret_cast<float4*>(&columns[j]) = *reinterpret_cast<const float4*>(&weight[k][at.o + column_of(j)]);
        }
#pragma unroll
        for (int i = 0; i < Tile::kThreadN; i++) {
#pragma unroll
            for (int j = 0; j < Tile::kThreadOC; j++) { sums[i][j] += rows[i] * columns[j]; }
        }
    }
    // <<< solution
}

// The first row and column of a block's tile of out. kTogether rows of tiles are walked together, column by column: the
// blocks that run at the same time then make up a square of out, and share what they load.
constexpr int kTogether = 16;
template <class Tile>
__device__ Place tile_of_block(int N, int OC) {
    const int tiles_n = (N - 1) / Tile::kBlockN + 1, tiles_o = (OC - 1) / Tile::kBlockOC + 1;
    const int block = static_cast<int>(blockIdx.x);
    const int first = block / (kTogether * tiles_o) * kTogether, at = block % (kTogether * tiles_o);
    const int rows = tiles_n - first < kTogether ? tiles_n - first : kTogether;
    return {(first + at % rows) * Tile::kBlockN, at / rows * Tile::kBlockOC};
}

template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kResident)
    matmul_forward_kernel(float* out,           // (N, out_stride)
                          const float* inp,     // (N, C)
                          const float* weight,  // (OC, C)
                          const float* bias,    // (OC), or null for none
                          int N, int C, int OC, int out_stride,
                          bool float4s) {  // whether every row of out begins at a multiple of 16 bytes
    __shared__ __align__(16) typename Copies<Tile, Tile::kBlockN>::Stage inp_stages[2];
    __shared__ __align__(16) typename Copies<Tile, Tile::kBlockOC>::Stage weight_stages[2];
    const Place tile = tile_of_block<Tile>(N, OC), lane = place_of_lane<Tile>();
    const long n0 = tile.n, o0 = tile.o;  // long, as n * C and n * out_stride may pass 2^31
    Copies<Tile, Tile::kBlockN> of_inp(inp + n0 * C, N - n0, C);
    Copies<Tile, Tile::kBlockOC> of_weight(weight + o0 * C, OC - o0, C);
    // >>> solution
    //~ // TODO: the sums, which begin with the bias; the loop over stages, with one barrier in it; the store of what is below
    //~ // N and OC, 4 floats at a time where they lie in out and float4s says so.
    float sums[Tile::kThreadN][Tile::kThreadOC];
#pragma unroll
    for (int j = 0; j < Tile::kThreadOC; j++) {
        const long o = o0 + lane.o + column_of(j);
        const float first = bias && o < OC ? bias[o] : 0.0f;
#pragma unroll
        for (int i = 0; i < Tile::kThreadN; i++) { sums[i][j] = first; }
    }
    of_inp.start(inp_stages[0]);
    of_weight.start(weight_stages[0]);
    for (int left = C, stage = 0; left > 0; left -= Tile::kStep, stage ^= 1) {
        of_inp.finish(inp_stages[stage]);
        of_weight.finish(weight_stages[stage]);
        __syncthreads();  // the stage is whole, and everyone has read the other one
        if (left > Tile::kStep) {
            of_inp.start(inp_stages[stage ^ 1]);
            of_weight.start(weight_stages[stage ^ 1]);
        }
        add_products<Tile>(sums, inp_stages[stage], weight_stages[stage], lane);
    }
#pragma unroll
    for (int i = 0; i < Tile::kThreadN; i++) {
        const long n = n0 + lane.n + row_of(i);
        if (n < N) {
            float* out_n = out + n * out_stride;  // out[n, :]
#pragma unroll
            for (int j = 0; j < Tile::kThreadOC; j += 4) {
                const long o = o0 + lane.o + column_of(j);
                if (float4s && o + 4 <= OC) {
                    *reinterpret_cast<float4*>(out_n + o) =
                        make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
                } else {
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        if (o + e < OC) {
                            out_n[o + e] = sums[i][j + e];
                        }
                    }
                }
            }
        }
    }
    // <<< solution
}

template <class Tile>
void launch(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC, int out_stride,
            Context& ctx) {
    const unsigned int blocks = ceil_div(N, Tile::kBlockN) * ceil_div(OC, Tile::kBlockOC);
    const bool float4s = is_aligned_16(out) && out_stride % 4 == 0;
    matmul_forward_kernel<Tile>
        <<<blocks, Tile::kThreads, 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, out_stride, float4s);
    check(cudaGetLastError());
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    with_tile(tile_for(card_here(), N, OC),
              [&](auto tile) { launch<decltype(tile)>(out, inp, weight, bias, N, C, OC, out_stride, ctx); });
}
