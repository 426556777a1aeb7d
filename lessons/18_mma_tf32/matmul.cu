// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC, with factors rounded to TF32
//
// A block computes kBlockN by kBlockOC outputs, a warp of it kWarpN by kWarpOC, as tiles of 16 by 8 in its lanes' registers.
// For 8 channels of a tile the warp issues one instruction on the tensor cores. Shared memory holds kStages stages of kStep
// channels, which arrive by cp.async as in lesson 10, here with one row per row of the operand.
#include "checker/ptx.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kBlockN = 128, kBlockOC = 128;  // rows and columns of out that a block computes
constexpr int kWarpN = 64, kWarpOC = 64;      // rows and columns that a warp computes
constexpr int kTileN = 16, kTileOC = 8;       // rows and columns of one instruction's tile
constexpr int kStep = 16;                     // channels of a stage: of two instructions for each tile
constexpr int kStages = 3;  // one is summed, two are on their way: 48 KB, what a block may have unasked
constexpr int kTilesN = kWarpN / kTileN, kTilesOC = kWarpOC / kTileOC;
constexpr int kWarpsN = kBlockN / kWarpN, kThreads = 32 * kWarpsN * (kBlockOC / kWarpOC);

using Stage = float[kBlockN][kStep];  // operand[row0 + row, c0 + channel]
static_assert(kBlockN == kBlockOC, "both operands' stages have as many rows");

// One thread's part in copying a block's rows of an operand, stage after stage, kVector floats at once. Neighbouring threads
// copy neighbouring floats of a row.
template <int kVector>
class Copies {
  public:
    __device__ Copies(const float* operand,  // (rows, C), from the block's first row on
                      int rows, int C)
        : from_(operand + channel()), rows_(rows), C_(C), left_(C - channel()) {}

    // Starts to copy the operand's next kStep channels into `stage`; 0 beyond the last channel.
    __device__ void start(Stage& stage) {
#pragma unroll
        for (int i = 0; i < kBlockN; i += kThreads / kAcross) {
            // A row beyond the last one is the last one again: what comes of it is not stored.
            const int row = i + static_cast<int>(threadIdx.x) / kAcross, from = row < rows_ ? row : rows_ - 1;
            ptx::cp_async<4 * kVector>(&stage[row][channel()], from_ + from * C_, left_ > 0 ? 4 * kVector : 0);
        }
        from_ += kStep;
        left_ -= kStep;
    }

  private:
    static constexpr int kAcross = kStep / kVector;  // threads that share a row
    static __device__ int channel() {
        return static_cast<int>(threadIdx.x) % kAcross * kVector;
    }

    const float* from_;    // the block's first row, at this thread's channel of the next stage
    int rows_, C_, left_;  // left_: channels from this thread's first one on
};

struct Place {
    int n, o;
};

// Lesson 10's: the first row and column of a block's tile of out.
constexpr int kTogether = 16;
__device__ Place tile_of_block(int N, int OC) {
    const int tiles_n = (N - 1) / kBlockN + 1, tiles_o = (OC - 1) / kBlockOC + 1;
    const int block = static_cast<int>(blockIdx.x);
    const int first = block / (kTogether * tiles_o) * kTogether, at = block % (kTogether * tiles_o);
    const int rows = tiles_n - first < kTogether ? tiles_n - first : kTogether;
    return {(first + at % rows) * kBlockN, at / rows * kBlockOC};
}

// The first row and column of a warp's outputs in the block's tile.
__device__ Place place_of_warp() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    return {warp % kWarpsN * kWarpN, warp / kWarpsN * kWarpOC};
}

// ---- who holds which element -------------------------------------------------------------------------------------------
//
// A lane has the number q = lane % 4 in group g = lane / 4. Element x[i] of its fragments is, as checker/ptx.h says,
//     Tf32A         inp     row g + 8 (i % 2), channel q + 4 (i / 2) of the instruction's 8
//     Tf32B         weight  row g, channel q + 4 i
//     Accumulators  out     row g + 8 (i / 2), column 2 q + i % 2

__device__ int group_of_lane() {
    return static_cast<int>(threadIdx.x) % 32 / 4;
}
__device__ int number_in_group() {
    return static_cast<int>(threadIdx.x) % 4;
}

using Sums = ptx::Accumulators[kTilesN][kTilesOC];  // tile [i][j]: out[n0 + i * kTileN…, o0 + j * kTileOC…]

// A sum may run over its channels in any order, if both operands have the same one. So a lane loads four neighbours of a
// stage's 16 channels at once, 4 q to 4 q + 3. The first two are channels q and q + 4 of the first instruction, the other two
// those of the second one.
struct InpFragments {
    ptx::Tf32A of[2];  // by instruction
};
struct WeightFragments {
    ptx::Tf32B of[2];
};

// Loads the fragments of kTileN rows of `inp`, from `row` on.
__device__ InpFragments load_inp(const Stage& inp, int row) {
    InpFragments fragments = {};
    // TODO: two float4s, of rows g and g + 8, rounded by ptx::to_tf32.
    return fragments;
}

// Loads the fragments of kTileOC rows of `weight`, from `row` on.
__device__ WeightFragments load_weight(const Stage& weight, int row) {
    WeightFragments fragments = {};
    // TODO: one float4, with the channels in the same order.
    return fragments;
}

// Adds the products of a stage's channels to `sums`.
__device__ void add_products(Sums& sums, const Stage& inp, const Stage& weight, Place at) {
    // TODO: the fragments of kTilesOC tiles of weight and of kTilesN tiles of inp, and ptx::mma_m16n8k8 for each pair of
    // tiles and each of the two instructions.
}

// Sets each sum to the bias of its column, the first one of which is `o0`.
__device__ void begin_with_bias(Sums& sums, const float* bias, long o0, int OC) {
    // TODO: columns 2 q and 2 q + 1 of each tile; 0 where there is no bias or no column.
}

// Stores the warp's outputs, the first at row n0 and column o0. store_2: every row of out starts at a multiple of 8 bytes.
__device__ void store(float* out, const Sums& sums, long n0, long o0, int N, int OC, int out_stride, bool store_2) {
    // TODO: rows g and g + 8 of each tile that exist, two columns at once where store_2 and the edge allow it.
}

// ---- the kernel --------------------------------------------------------------------------------------------------------

// kVector: rows of inp and of weight consist of that many floats side by side, aligned as such a vector.
template <int kVector>
__global__ void __launch_bounds__(kThreads, 2)  // registers for two blocks on a multiprocessor: 255 per thread
    matmul_forward_kernel(float* out,           // (N, out_stride)
                          const float* inp,     // (N, C)
                          const float* weight,  // (OC, C)
                          const float* bias,    // (OC), or null for none
                          int N, int C, int OC, int out_stride,
                          bool store_2) {  // each row of out starts at a multiple of 8 bytes
    __shared__ __align__(16) Stage inp_stages[kStages];
    __shared__ __align__(16) Stage weight_stages[kStages];
    const Place tile = tile_of_block(N, OC), at = place_of_warp();
    const long n0 = tile.n, o0 = tile.o;  // long, as n0 * C may pass 2^31
    Copies<kVector> of_inp(inp + n0 * C, N - tile.n, C), of_weight(weight + o0 * C, OC - tile.o, C);
    const auto start = [&](int stage, bool exists) {  // a group of copies, empty behind the last stage
        if (exists) {
            of_inp.start(inp_stages[stage]);
            of_weight.start(weight_stages[stage]);
        }
        ptx::cp_async_commit();
    };
    for (int stage = 0; stage < kStages - 1; stage++) { start(stage, stage * kStep < C); }
    Sums sums;
    begin_with_bias(sums, bias, o0 + at.o, OC);
    for (int left = C, stage = 0; left > 0; left -= kStep, stage = stage == kStages - 1 ? 0 : stage + 1) {
        ptx::cp_async_wait<kStages - 2>();
        __syncthreads();  // this stage is whole, and everyone has summed the one before it, which is copied into next
        start(stage == 0 ? kStages - 1 : stage - 1, left > (kStages - 1) * kStep);
        add_products(sums, inp_stages[stage], weight_stages[stage], at);
    }
    store(out, sums, n0 + at.n, o0 + at.o, N, OC, out_stride, store_2);
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    const unsigned int blocks = ceil_div(N, kBlockN) * ceil_div(OC, kBlockOC);
    const bool vectors = C % 4 == 0 && is_aligned_16(inp, weight), store_2 = out_stride % 2 == 0 && is_aligned_16(out);
    const auto kernel = vectors ? matmul_forward_kernel<4> : matmul_forward_kernel<1>;
    kernel<<<blocks, kThreads, 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, out_stride, store_2);
    check(cudaGetLastError());
}
