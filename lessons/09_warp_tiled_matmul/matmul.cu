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
        // TODO: for each i below kPieces and each k of 0, 8, … below kStep one float, from_[at_[i] + k] or, for k from
        // left_ on, 0: by ptx::cp_async<4>, which may take 0 bytes, where Tile::kWay is async, else into values_.
        from_ += Tile::kStep;
        left_ -= Tile::kStep;
    }

    // Waits until what this thread has started is in `stage`, for this thread.
    __device__ void finish(Stage& stage) {
        // TODO: where Tile::kWay is async wait for the copies, else store values_.
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
    // TODO: for each channel kThreadN floats of inp and kThreadOC of weight into registers, 4 at a time, and their products.
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
    // TODO: the sums, which begin with the bias; the loop over stages, with one barrier in it; the store of what is below
    // N and OC, 4 floats at a time where they lie in out and float4s says so.
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
