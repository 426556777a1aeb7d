// SPDX-License-Identifier: MIT
//
// out[n, o] = bias[o] + sum over c of inp[n, c] * weight[o, c], for o < OC
//
// A block computes kTile by kTile outputs, a warp of it kWarpN by kWarpOC, a thread 8 by 8 in its registers: 2 by 2 groups
// of 4 by 4, so that the float4s of neighbouring lanes lie side by side. The block goes along C in steps of kStep channels:
// its threads load that piece of their rows of inp and of weight into shared memory and transpose it on the way.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kTile = 128;                    // rows and columns of out that a block computes
constexpr int kWarpN = 64, kWarpOC = 32;      // rows and columns of out that a warp computes
constexpr int kOutputs = 8;                   // rows and columns of out that a thread computes, in groups of 4
constexpr int kLanesN = kWarpN / kOutputs;    // lanes of a warp along N
constexpr int kLanesOC = kWarpOC / kOutputs;  // and along OC
constexpr int kThreads = kTile / kWarpN * (kTile / kWarpOC) * 32;
constexpr int kStep = 16;  // channels of a tile
constexpr int kPad = 4;    // floats at the end of a tile's row that nobody uses: the next row begins 4 banks further
static_assert(kLanesN * kLanesOC == 32, "a warp has 32 lanes");
static_assert(kThreads == 2 * kTile, "load_tile: two threads load a row");

using Tile = float[kStep][kTile + kPad];  // channel, row

// x[row, c] to x[row, c + 3] of x (rows, C); 0 beyond its last row and its last channel. kVectors: every row of x starts
// at a multiple of 16 bytes, and so does each fourth channel; C is a multiple of 4.
template <bool kVectors>
__device__ float4 load_4(const float* x, long row, int rows, int c, int C) {
    if (row >= rows || c >= C) {
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    const float* from = x + row * C + c;
    if constexpr (kVectors) {
        return *reinterpret_cast<const float4*>(from);
    } else {
        return make_float4(from[0], c + 1 < C ? from[1] : 0.0f, c + 2 < C ? from[2] : 0.0f, c + 3 < C ? from[3] : 0.0f);
    }
}

// tile[k][i] = x[row0 + i, c0 + k], by all threads of the block.
template <bool kVectors>
__device__ void load_tile(Tile& tile, const float* x, long row0, int rows, int c0, int C) {
    // TODO: two neighbouring threads load one row: channels 0 … 3 and 4 … 7 of it, then 8 … 11 and 12 … 15. Each float4
    // is stored into 4 rows of the tile, without a bank conflict.
}

// The first row and column of a thread's outputs in the block's tile. A half of a warp takes 8 neighbouring float4s of
// rows, 32 banks, and 2 of columns.
struct Place {
    int n, o;
};
__device__ Place place_of_thread() {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int lane_n = lane / 2 % kLanesN, lane_o = lane % 2 + lane / 16 * 2;
    constexpr int kWarpsN = kTile / kWarpN;
    return {warp % kWarpsN * kWarpN + 4 * lane_n, warp / kWarpsN * kWarpOC + 4 * lane_o};
}
// From there to its row i and its column j: the second group of 4 comes after all lanes' first groups.
__device__ int row_of(int i) {
    return i / 4 * 4 * kLanesN + i % 4;
}
__device__ int column_of(int j) {
    return j / 4 * 4 * kLanesOC + j % 4;
}

using Sums = float[kOutputs][kOutputs];  // of out[n0 + row_of(i), o0 + column_of(j)]

// As lesson 08 stores them, group by group.
__device__ void store(float* out, const Sums& sum, long n0, long o0, int N, int OC, int out_stride, bool store_4) {
    const int columns = static_cast<int>(OC - o0);  // from this thread's first one on
#pragma unroll
    for (int i = 0; i < kOutputs; i++) {
        const long n = n0 + row_of(i);  // long, as n * out_stride may pass 2^31
        if (n < N) {
            float* out_n = out + n * out_stride + o0;  // out[n, o0:]
#pragma unroll
            for (int j = 0; j < kOutputs; j += 4) {
                const int o = column_of(j);
                if (store_4 && o + 3 < columns) {
                    *reinterpret_cast<float4*>(out_n + o) =
                        make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
                } else {
#pragma unroll
                    for (int l = 0; l < 4; l++) {
                        if (o + l < columns) {
                            out_n[o + l] = sum[i][j + l];
                        }
                    }
                }
            }
        }
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
    const Place at = place_of_thread();
    const long n0 = static_cast<long>(blockIdx.x) * kTile;  // first row of inp and of out
    const long o0 = static_cast<long>(blockIdx.y) * kTile;  // first row of weight, first column of out
    // TODO: Sums, which begin with the bias where there is one. For each kStep channels: both tiles; barrier; for each
    // channel 2 float4s of either tile into registers, and kOutputs by kOutputs products; barrier. At the end `store`.
}

}  // namespace

void matmul(float* out,           // (N, out_stride), out_stride >= OC
            const float* inp,     // (N, C)
            const float* weight,  // (OC, C)
            const float* bias,    // (OC), or null for none
            int N, int C, int OC, int out_stride, Context& ctx) {
    const dim3 grid(ceil_div(N, kTile), ceil_div(OC, kTile));  // blocks that run together share rows of weight
    const bool vectors = C % 4 == 0 && is_aligned_16(inp, weight), store_4 = out_stride % 4 == 0 && is_aligned_16(out);
    const auto kernel = vectors ? matmul_forward_kernel<true> : matmul_forward_kernel<false>;
    kernel<<<grid, kThreads, 0, ctx.stream>>>(out, inp, weight, bias, N, C, OC, out_stride, store_4);
    check(cudaGetLastError());
}
