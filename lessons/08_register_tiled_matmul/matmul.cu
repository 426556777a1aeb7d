// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// A block computes kTile rows by kTile columns of out, a thread kOutputs by kOutputs of them in its registers. The block
// goes along C in steps of kStep channels: its threads load that piece of their rows of inp and of weight into shared
// memory, 4 channels at a time, transposed, so that the rows of a channel lie side by side. A thread then loads its
// kOutputs rows of inp and kOutputs rows of weight, and each float that it loads serves kOutputs outputs.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kTile = 128;               // rows and columns of out that a block computes
constexpr int kStep = 16;                // channels of a tile
constexpr int kOutputs = 8;              // rows and columns of out that a thread computes
constexpr int kSide = kTile / kOutputs;  // threads of a block in x and in y
constexpr int kThreads = kSide * kSide;
static_assert(kStep % 4 == 0 && kOutputs % 4 == 0, "tiles are moved in float4s");

using Tile = float[kStep][kTile];  // channel, row

// x[row, c] to x[row, c + 3] of x (rows, C); 0 beyond its last row and its last channel. kVectors: every row of x starts
// at a multiple of 16 bytes, and so does each fourth channel; C is a multiple of 4.
template <bool kVectors>
__device__ float4 load_4(const float* x, long row, int rows, int c, int C) {
    // TODO: the row's float4 from channel c on if kVectors, else 4 floats. Whatever lies beyond an edge is 0.
    return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// tile[k][i] = x[row0 + i, c0 + k], by all threads of the block.
template <bool kVectors>
__device__ void load_tile(Tile& tile, const float* x, long row0, int rows, int c0, int C) {
    // TODO: a row's piece is kStep / 4 float4s. A thread takes every kThreads-th of all rows' float4s, counted along the
    // channels first, so that neighbours load neighbours. It stores the 4 floats in 4 rows of the tile.
}

// kOutputs neighbours of a tile's row, in float4s.
__device__ void load_outputs(float (&to)[kOutputs], const float* from) {
    for (int i = 0; i < kOutputs; i += 4) {
        const float4 x = *reinterpret_cast<const float4*>(from + i);
        to[i] = x.x;
        to[i + 1] = x.y;
        to[i + 2] = x.z;
        to[i + 3] = x.w;
    }
}

template <bool kVectors>
__global__ void __launch_bounds__(kThreads, 2)  // registers for two blocks on a multiprocessor: 128 per thread
    matmul_forward_kernel(float* out,           // (N, out_stride)
                          const float* inp,     // (N, C)
                          const float* weight,  // (OC, C)
                          const float* bias,    // (OC), or null for none
                          int N, int C, int OC, int out_stride,
                          bool store_4) {       // whether each row of out starts at a multiple of 16 bytes
    __shared__ __align__(16) Tile inp_tile;     // inp[n0 + row, c0 + channel]
    __shared__ __align__(16) Tile weight_tile;  // weight[o0 + row, c0 + channel]
    const int x = threadIdx.x * kOutputs;       // the first of this thread's columns of the block's tile of out
    const int y = threadIdx.y * kOutputs;       // and the first of its rows
    const long n0 = static_cast<long>(blockIdx.x) * kTile;  // first row of inp and of out
    const long o0 = static_cast<long>(blockIdx.y) * kTile;  // first row of weight, first column of out
    // TODO: sum[kOutputs][kOutputs], from the bias where there is one. For each kStep channels: both tiles; barrier; for
    // each channel kOutputs floats of either tile into registers, and kOutputs by kOutputs products; barrier. Then the
    // rows of out: float4s where store_4 holds and all four columns are there, else floats.
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    const dim3 block(kSide, kSide);
    const dim3 grid(ceil_div(N, kTile), ceil_div(OC, kTile));  // blocks that run together share rows of weight
    const bool vectors = C % 4 == 0 && is_aligned_16(inp, weight), store_4 = out_stride % 4 == 0 && is_aligned_16(out);
    const auto kernel = vectors ? matmul_forward_kernel<true> : matmul_forward_kernel<false>;
    kernel<<<grid, block, 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, out_stride, store_4);
    check(cudaGetLastError());
}
