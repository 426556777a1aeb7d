// SPDX-License-Identifier: MIT
//
// A wrong solution: lesson 05's, right, with one thread a row.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kBlock = 32;     // threads in a block
constexpr float kEps = 1e-5f;  // a row of equal values has variance 0

__global__ void layernorm_forward_kernel(float* out,           // (N, C)
                                         float* mean,          // (N)
                                         float* rstd,          // (N)
                                         const float* inp,     // (N, C)
                                         const float* weight,  // (C)
                                         const float* bias,    // (C)
                                         int N, int C) {
    const long n = blockIdx.x * blockDim.x + threadIdx.x;  // long, as N * C may pass 2^31
    if (n >= N) {
        return;
    }
    const float* inp_n = inp + n * C;  // inp[b, t, :]
    float* out_n = out + n * C;        // out[b, t, :]

    float sum = 0.0f;
    for (int c = 0; c < C; c++) { sum += inp_n[c]; }
    const float m = sum / C;

    float sum_of_squares = 0.0f;
    for (int c = 0; c < C; c++) {
        const float difference = inp_n[c] - m;
        sum_of_squares += difference * difference;
    }
    const float variance = sum_of_squares / C;
    const float r = 1.0f / sqrtf(variance + kEps);

    for (int c = 0; c < C; c++) { out_n[c] = (inp_n[c] - m) * r * weight[c] + bias[c]; }
    mean[n] = m;
    rstd[n] = r;
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
    layernorm_forward_kernel<<<ceil_div(N, kBlock), kBlock, 0, ctx.stream>>>(out, mean, rstd, inp, weight, bias, N, C);
    check(cudaGetLastError());
}
