// SPDX-License-Identifier: MIT
//
// residual[b, t, :] = inp1[b, t, :] + inp2[b, t, :]
// out[b, t, :]      = layernorm of residual[b, t, :], with its mean and rstd
//
// Given. The layernorm of this lesson, whose row is the sum of two and is stored as well: 4 tensors are moved, where residual
// and layernorm one after the other move 5.
// >>> given
#include "lessons/06_coalescing/warp_sum.cuh"
#include "lessons/12_cublaslt_fusion/pieces.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kLanes = 32;     // a block is kLanes threads in x, so its row y is one warp
constexpr int kRows = 8;       // rows of a block
constexpr float kEps = 1e-5f;  // a row of equal values has variance 0

// Blocks that a multiprocessor is to hold: with 4 of GPT-2's rows an H100 holds all 512 of B=4, T=1024 at once, with 3 it
// holds 396.
constexpr int resident(int kept) {
    return kept > 8 ? 2 : 4;
}

// Piece is float4 or float; N rows of P pieces each, which are C floats.
template <class Piece, int kKept>
__global__ void __launch_bounds__(kLanes* kRows, resident(kKept))
    residual_layernorm_forward_kernel(Piece* residual, Piece* out, float* mean, float* rstd, const Piece* inp1,
                                      const Piece* inp2, const Piece* weight, const Piece* bias, int N, int P, int C) {
    const int lane = threadIdx.x;
    const long n = static_cast<long>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (n >= N) {
        return;
    }
    const Piece* inp1_n = inp1 + n * P;    // inp1[b, t, :]
    const Piece* inp2_n = inp2 + n * P;    // inp2[b, t, :]
    Piece* residual_n = residual + n * P;  // residual[b, t, :]
    Piece* out_n = out + n * P;            // out[b, t, :]
    const auto plus = [](float a, float b) { return a + b; };

    Piece x[kKept], other[kKept];
#pragma unroll
    for (int i = 0; i < kKept; i++) {  // all loads are under way before the first sum waits for its own
        const int p = lane + kLanes * i;
        x[i] = p < P ? inp1_n[p] : Piece{};
        other[i] = p < P ? inp2_n[p] : Piece{};
    }
#pragma unroll
    for (int i = 0; i < kKept; i++) {
        x[i] = map(plus, x[i], other[i]);
        if (const int p = lane + kLanes * i; p < P) {
            residual_n[p] = x[i];
        }
    }
#pragma unroll 1  // long rows' loops take no registers from the short ones
    for (int p = lane + kLanes * kKept; p < P; p += kLanes) { residual_n[p] = map(plus, inp1_n[p], inp2_n[p]); }
    const auto each = [&](auto use) {  // use(p, piece p) for each of this lane's
#pragma unroll
        for (int i = 0; i < kKept; i++) {
            if (const int p = lane + kLanes * i; p < P) {
                use(p, x[i]);
            }
        }
#pragma unroll 1
        for (int p = lane + kLanes * kKept; p < P; p += kLanes) { use(p, residual_n[p]); }
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
void launch(float* residual, float* out, float* mean, float* rstd, const float* inp1, const float* inp2,
            const float* weight, const float* bias, int N, int P, int C, cudaStream_t stream) {
    const auto pieces = [](const float* of) { return reinterpret_cast<const Piece*>(of); };
    residual_layernorm_forward_kernel<Piece, kKept><<<ceil_div(N, kRows), dim3(kLanes, kRows), 0, stream>>>(
        reinterpret_cast<Piece*>(residual), reinterpret_cast<Piece*>(out), mean, rstd, pieces(inp1), pieces(inp2),
        pieces(weight), pieces(bias), N, P, C);
    check(cudaGetLastError());
}

}  // namespace

void residual_layernorm(float* residual,      // (B, T, C)
                        float* out,           // (B, T, C)
                        float* mean,          // (B, T)
                        float* rstd,          // (B, T)
                        const float* inp1,    // (B, T, C)
                        const float* inp2,    // (B, T, C)
                        const float* weight,  // (C)
                        const float* bias,    // (C)
                        int B, int T, int C, Context& ctx) {
    const int N = B * T;
    if (C % 4 != 0 || !is_aligned_16(residual, out, inp1, inp2, weight, bias)) {
        launch<float, 8>(residual, out, mean, rstd, inp1, inp2, weight, bias, N, C, C, ctx.stream);
    } else if (C <= 4 * 6 * kLanes) {  // GPT-2's 768
        launch<float4, 6>(residual, out, mean, rstd, inp1, inp2, weight, bias, N, C / 4, C, ctx.stream);
    } else {  // up to 1,664 channels in registers: GPT-2 XL has 1,600
        launch<float4, 13>(residual, out, mean, rstd, inp1, inp2, weight, bias, N, C / 4, C, ctx.stream);
    }
}
