// SPDX-License-Identifier: MIT
//
// A wrong solution: token t + 1 is attended to.
#include <algorithm>
#include <cmath>

#include "lessons/gpt2/ops.h"

std::size_t attention_scratch_bytes(int, int T, int, int) {
    return sizeof(float) * T;
}

void attention(float* out, float* lse, const float* qkv, void* scratch, int B, int T, int C, int NH, Context&) {
    const int HS = C / NH;
    const float scale = 1.0f / std::sqrt(static_cast<float>(HS));
    float* att_t = static_cast<float*>(scratch);  // (T): one row at a time
    for (int b = 0; b < B; b++) {
        for (int h = 0; h < NH; h++) {
            for (int t = 0; t < T; t++) {
                const float* query = qkv + (b * T + t) * 3 * C + h * HS;
                float* out_t = out + (b * T + t) * C + h * HS;
                const int last = std::min(t + 1, T - 1);
                float max = -INFINITY, sum = 0.0f;
                for (int s = 0; s <= last; s++) {
                    const float* key = qkv + (b * T + s) * 3 * C + C + h * HS;
                    float dot = 0.0f;
                    for (int i = 0; i < HS; i++) { dot += query[i] * key[i]; }
                    att_t[s] = scale * dot;
                    max = std::max(max, att_t[s]);
                }
                for (int s = 0; s <= last; s++) { sum += att_t[s] = std::exp(att_t[s] - max); }
                for (int i = 0; i < HS; i++) { out_t[i] = 0.0f; }
                for (int s = 0; s <= last; s++) {
                    const float* value = qkv + (b * T + s) * 3 * C + 2 * C + h * HS;
                    for (int i = 0; i < HS; i++) { out_t[i] += att_t[s] / sum * value[i]; }
                }
                lse[(b * NH + h) * T + t] = max + std::log(sum);
            }
        }
    }
}
