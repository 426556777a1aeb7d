// SPDX-License-Identifier: MIT
//
// mean[b, t]    = average of inp[b, t, :]
// rstd[b, t]    = 1 / sqrt(variance + eps), variance = average of (inp[b, t, :] - mean)^2
// out[b, t, :]  = (inp[b, t, :] - mean) * rstd * weight + bias
//
// One warp per row, as in lesson 06: lane l has pieces l, l + 32, ... The first kKept of them stay in its registers, so that the
// row is read once. What a longer row has beyond them is read again in each pass.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "lessons/13_cooperative_groups/pieces.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kLanes = 32;
constexpr int kBlock = 256;    // threads in a block: 8 rows
constexpr float kEps = 1e-5f;  // a row of equal values has variance 0

// Piece is float4 or float; N rows of P pieces each, which are C floats.
template <class Piece, int kKept>
__global__ void layernorm_forward_kernel(Piece* out, float* mean, float* rstd, const Piece* inp, const Piece* weight,
                                         const Piece* bias, int N, int P, int C) {
    // >>> solution
    //~ // TODO: the tile of 32 threads that this one is in. Tile n of the grid has row n; a tile beyond row N does nothing.
    //~ // Load the row into `Piece x[kKept]`. Three passes over it: cg::reduce of the tile's sums gives the mean, then the
    //~ // variance; then out. Lane 0 stores the mean and rstd.
    const cg::thread_block_tile<kLanes> warp = cg::tiled_partition<kLanes>(cg::this_thread_block());
    const int lane = warp.thread_rank();
    const long n = static_cast<long>(blockIdx.x) * warp.meta_group_size() + warp.meta_group_rank();
    if (n >= N) {
        return;
    }
    const Piece* inp_n = inp + n * P;  // inp[b, t, :]
    Piece* out_n = out + n * P;        // out[b, t, :]

    Piece x[kKept];
#pragma unroll
    for (int i = 0; i < kKept; i++) { x[i] = lane + kLanes * i < P ? inp_n[lane + kLanes * i] : Piece{}; }
    const auto each = [&](auto use) {  // use(p, piece p) for each of this lane's
#pragma unroll
        for (int i = 0; i < kKept; i++) {
            if (const int p = lane + kLanes * i; p < P) {
                use(p, x[i]);
            }
        }
        for (int p = lane + kLanes * kKept; p < P; p += kLanes) { use(p, inp_n[p]); }
    };

    float sum = 0.0f;
    each([&](int, Piece x_p) { sum += sum_of(x_p); });
    const float m = cg::reduce(warp, sum, cg::plus<float>()) / C;

    float sum_of_squares = 0.0f;
    const auto square = [m](float v) { return (v - m) * (v - m); };
    each([&](int, Piece x_p) { sum_of_squares += sum_of(map(square, x_p)); });
    const float r = 1.0f / sqrtf(cg::reduce(warp, sum_of_squares, cg::plus<float>()) / C + kEps);

    const auto normal = [m, r](float v, float w, float b) { return (v - m) * r * w + b; };
    each([&](int p, Piece x_p) { out_n[p] = map(normal, x_p, weight[p], bias[p]); });
    if (lane == 0) {
        mean[n] = m;
        rstd[n] = r;
    }
    // <<< solution
}

template <class Piece, int kKept>
void launch(float* out, float* mean, float* rstd, const float* inp, const float* weight, const float* bias, int N,
            int P, int C, cudaStream_t stream) {
    const auto pieces = [](const float* of) { return reinterpret_cast<const Piece*>(of); };
    layernorm_forward_kernel<Piece, kKept><<<ceil_div(N, kBlock / kLanes), kBlock, 0, stream>>>(
        reinterpret_cast<Piece*>(out), mean, rstd, pieces(inp), pieces(weight), pieces(bias), N, P, C);
    check(cudaGetLastError());
}

}  // namespace

void layernorm(float* out,           // (B, T, C)
               float* mean,          // (B, T)
               float* rstd,          // (B, T)
               const float* inp,     // (B, T, C)
               const float* weight,  // (C)
               const float* bias,    // (C)
               int B, int T, int C, Context& ctx) {
    const int N = B * T;
    if (C % 4 != 0 || !is_aligned_16(out, inp, weight, bias)) {
        launch<float, 8>(out, mean, rstd, inp, weight, bias, N, C, C, ctx.stream);
    } else if (C <= 4 * 6 * kLanes) {  // GPT-2's 768
        launch<float4, 6>(out, mean, rstd, inp, weight, bias, N, C / 4, C, ctx.stream);
    } else {  // up to 1,664 channels in registers: GPT-2 XL has 1,600
        launch<float4, 13>(out, mean, rstd, inp, weight, bias, N, C / 4, C, ctx.stream);
    }
}
