// SPDX-License-Identifier: MIT
//
// A wrong solution: the loops of the sums have become an if, so that a lane adds up one float4.
#include "lessons/06_coalescing/warp_sum.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kLanes = 32;     // of a warp: a block is kLanes threads in x, so its row y is one warp
constexpr int kRows = 8;       // rows of a block
constexpr float kEps = 1e-5f;  // a row of equal values has variance 0

__global__ void layernorm_forward_kernel(float* out,              // (N, C)
                                         float* mean,             // (N)
                                         float* rstd,             // (N)
                                         const float* inp,        // (N, C)
                                         const float* weight,     // (C)
                                         const float* bias,       // (C)
                                         int N, int C, int C4) {  // C4 float4s a row: C / 4, or 0 for none
    const int lane = threadIdx.x;
    const long n = blockIdx.x * blockDim.y + threadIdx.y;  // long, as N * C may pass 2^31
    if (n >= N) {
        return;
    }
    const float* inp_n = inp + n * C;  // inp[b, t, :]
    float* out_n = out + n * C;        // out[b, t, :]
    const float4* inp_n4 = reinterpret_cast<const float4*>(inp_n);
    const float4* weight_4 = reinterpret_cast<const float4*>(weight);
    const float4* bias_4 = reinterpret_cast<const float4*>(bias);
    float4* out_n4 = reinterpret_cast<float4*>(out_n);

    float sum = 0.0f;
    if (const int i = lane; i < C4) {
        const float4 x = inp_n4[i];
        sum += (x.x + x.y) + (x.z + x.w);
    }
    for (int c = 4 * C4 + lane; c < C; c += kLanes) { sum += inp_n[c]; }
    const float m = warp_sum(sum) / C;

    float sum_of_squares = 0.0f;
    const auto square = [m](float x) { return (x - m) * (x - m); };
    if (const int i = lane; i < C4) {
        const float4 x = inp_n4[i];
        sum_of_squares += (square(x.x) + square(x.y)) + (square(x.z) + square(x.w));
    }
    for (int c = 4 * C4 + lane; c < C; c += kLanes) { sum_of_squares += square(inp_n[c]); }
    const float variance = warp_sum(sum_of_squares) / C;
    const float r = 1.0f / sqrtf(variance + kEps);

    const auto normal = [m, r](float x, float w, float b) { return (x - m) * r * w + b; };
    for (int i = lane; i < C4; i += kLanes) {
        const float4 x = inp_n4[i];
        const float4 w = weight_4[i];
        const float4 b = bias_4[i];
        out_n4[i] = make_float4(normal(x.x, w.x, b.x), normal(x.y, w.y, b.y),  //
                                normal(x.z, w.z, b.z), normal(x.w, w.w, b.w));
    }
    for (int c = 4 * C4 + lane; c < C; c += kLanes) { out_n[c] = normal(inp_n[c], weight[c], bias[c]); }
    if (lane == 0) {
        mean[n] = m;
        rstd[n] = r;
    }
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
    const dim3 block(kLanes, kRows);
    const int C4 = C % 4 == 0 && is_aligned_16(out, inp, weight, bias) ? C / 4 : 0;
    layernorm_forward_kernel<<<ceil_div(N, kRows), block, 0, ctx.stream>>>(out, mean, rstd, inp, weight, bias, N, C,
                                                                           C4);
    check(cudaGetLastError());
}
