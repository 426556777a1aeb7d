// SPDX-License-Identifier: MIT
//
// out[b, t, :] = wte[tokens[b, t], :] + wpe[t, :]
//
// What the token is (a row of wte) plus where it stands (a row of wpe). Every sequence starts at position 0.
#include "lessons/gpt2/ops.h"

void encoder(float* out,         // (B, T, C)
             const int* tokens,  // (B, T), each in [0, V)
             const float* wte,   // (Vp, C)
             const float* wpe,   // (max_T, C), max_T >= T
             int B, int T, int C, Context&) {
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            float* out_bt = out + (b * T + t) * C;  // out[b, t, :]
            // TODO: name the row of wte and the row of wpe that belong here; write their sum, C floats, to out_bt.
        }
    }
}
