// SPDX-License-Identifier: MIT
//
// mean[b, t]    = average of inp[b, t, :]
// rstd[b, t]    = 1 / sqrt(variance + eps), variance = average of (inp[b, t, :] - mean)^2
// out[b, t, :]  = (inp[b, t, :] - mean) * rstd * weight + bias
//
// Each row is normalised on its own. mean and rstd are kept: the backward pass needs both.
#include <cmath>

#include "lessons/gpt2/ops.h"

namespace {
constexpr float kEps = 1e-5f;  // a row of equal values has variance 0
}

void layernorm(float* out,           // (B, T, C)
               float* mean,          // (B, T)
               float* rstd,          // (B, T)
               const float* inp,     // (B, T, C)
               const float* weight,  // (C)
               const float* bias,    // (C)
               int B, int T, int C, Context&) {
    for (int bt = 0; bt < B * T; bt++) {
        const float* inp_bt = inp + bt * C;  // inp[b, t, :]
        float* out_bt = out + bt * C;        // out[b, t, :]
        // TODO: pass 1 over inp_bt: the mean. Pass 2: the variance, from the differences to that mean, then rstd.
        // Pass 3: out_bt. Store this row's mean and rstd at index bt.
    }
}
