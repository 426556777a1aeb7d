// SPDX-License-Identifier: MIT
//
// scores[b, h, t, s] = query[b, t, h] . key[b, s, h], for s <= t
// att, lse           = causal_softmax(scores / sqrt(HS))
// out[b, t, h]       = sum over s <= t of att[b, h, t, s] * value[b, s, h]
//
// Row qkv[b, t, :] is query, key and value, C floats each; head h owns HS = C / NH floats of each, side by side.
// Token t looks at tokens s <= t only. The scratch holds scores, then att, (B, NH, T, T) each.
#include <cmath>

#include "lessons/gpt2/ops.h"

std::size_t attention_scratch_bytes(int B, int T, int, int NH) {
    return 2 * sizeof(float) * B * NH * T * T;
}

void attention(float* out,        // (B, T, C)
               float* lse,        // (B, NH, T), as causal_softmax
               const float* qkv,  // (B, T, 3C)
               void* scratch,     // attention_scratch_bytes(B, T, C, NH), aligned to 64 bytes
               int B, int T, int C, int NH, Context& ctx) {
    const int HS = C / NH;
    const float scale = 1.0f / std::sqrt(static_cast<float>(HS));
    float* scores = static_cast<float*>(scratch);  // (B, NH, T, T), s <= t
    float* att = scores + B * NH * T * T;          // (B, NH, T, T)

    for (int b = 0; b < B; b++) {
        for (int h = 0; h < NH; h++) {
            for (int t = 0; t < T; t++) {
                const float* query_t = qkv + (b * T + t) * 3 * C + h * HS;  // query[b, t, h, :]
                float* scores_t = scores + ((b * NH + h) * T + t) * T;      // scores[b, h, t, :]
                // TODO: for each s <= t, name key[b, s, h, :] and store its dot product with query_t, unscaled.
            }
        }
    }

    causal_softmax(att, lse, scores, scale, B, NH, T, ctx);

    for (int b = 0; b < B; b++) {
        for (int h = 0; h < NH; h++) {
            for (int t = 0; t < T; t++) {
                const float* att_t = att + ((b * NH + h) * T + t) * T;  // att[b, h, t, :]
                float* out_t = out + (b * T + t) * C + h * HS;          // out[b, t, h, :]
                // TODO: start from 0 and add value[b, s, h, :], weighted by att_t[s], for each s <= t.
            }
        }
    }
}
