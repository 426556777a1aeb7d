// SPDX-License-Identifier: MIT
//
// mean[b, t]    = average of inp[b, t, :]
// rstd[b, t]    = 1 / sqrt(variance + eps), variance = average of (inp[b, t, :] - mean)^2
// out[b, t, :]  = (inp[b, t, :] - mean) * rstd * weight + bias
//
// Given. One warp per row, as in lesson 06: lane l has pieces l, l + 32, ... The first kKept of them stay in its registers, so
// that the row is read once. What a longer row has beyond them is read again in each pass.
// >>> given
#include "lessons/06_coalescing/warp_sum.cuh"
#include "lessons/12_cublaslt_fusion/pieces.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kLanes = 32;     // a block is kLanes threads in x, so its row y is one warp
constexpr int kRows = 8;       // rows of a block
constexpr float kEps = 1e-5f;  // a row of equal values has variance 0

// Piece is float4 or float; N rows of P pieces each, which are C floats.
template <class Piece, int kKept>
__global__ void layernorm_forward_kernel(Piece* out, float* mean, float* rstd, const Piece* inp, const Piece* weight,
                                         const Piece* bias, int N, int P, int C) {
    const int lane = threadIdx.x;
    const long n = static_cast<long>(blockIdx.x) * blockDim.y + threadIdx.y;
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
    const float m = warp_sum(sum) / C;

    float sum_of_squares = 0.0f;
    const auto square = [m](float v) { return (v - m) * (v - m); };
    each([&](int, Piece x_p) { sum_of_squares += sum_of(map(square, x_p)); });
    const float r = 1.0f / sqrtf(warp_sum(sum_of_squares) / C + kEps);

    const auto normal = [m, r](float v, float w, float b) { return (v - m) * r * w + b; };
    each([&](int p, Piece x_p) { out_n[p] = map(normal, x_p, weight[p], bias[p]); });
    if (lane == 0) {
        mean[n] = m;
        rstd[n] = r;
    }
}

template <class Piece, int kKept>
void launch(float* out, float* mean, float* rstd, const float* inp, const float* weight, const float* bias, int N,
            int P, int C, cudaStream_t stream) {
    const auto pieces = [](const float* of) { return reinterpret_cast<const Piece*>(of); };
    layernorm_forward_kernel<Piece, kKept><<<ceil_div(N, kRows), dim3(kLanes, kRows), 0, stream>>>(
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
