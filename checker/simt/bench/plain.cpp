// SPDX-License-Identifier: MIT
//
// The loops of lessons 01 and 02, with which the device's kernels are compared.
#include <cmath>

#include "checker/simt/bench/ops.h"

namespace {

constexpr float kEps = 1e-5F;

void matmul(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC) {
    for (int n = 0; n < N; n++) {
        const float* inp_n = inp + n * C;  // inp[n, :]
        float* out_n = out + n * OC;       // out[n, :]
        for (int o = 0; o < OC; o++) {
            const float* weight_o = weight + o * C;  // weight[o, :]
            float sum = bias[o];
            for (int c = 0; c < C; c++) { sum += inp_n[c] * weight_o[c]; }
            out_n[o] = sum;
        }
    }
}

void layernorm(float* out, const float* inp, const float* weight, const float* bias, int N, int C) {
    const auto columns = static_cast<float>(C);
    for (int n = 0; n < N; n++) {
        const float* inp_n = inp + n * C;  // inp[n, :]
        float* out_n = out + n * C;        // out[n, :]
        float sum = 0.0F;
        for (int c = 0; c < C; c++) { sum += inp_n[c]; }
        const float mean = sum / columns;
        float squares = 0.0F;
        for (int c = 0; c < C; c++) {
            const float difference = inp_n[c] - mean;
            squares += difference * difference;
        }
        const float rstd = 1.0F / std::sqrt(squares / columns + kEps);
        for (int c = 0; c < C; c++) { out_n[c] = (inp_n[c] - mean) * rstd * weight[c] + bias[c]; }
    }
}

void softmax(float* att_t, const float* scores_t, int t) {
    float most = scores_t[0];
    for (int s = 1; s <= t; s++) { most = std::fmax(most, scores_t[s]); }
    float sum = 0.0F;
    for (int s = 0; s <= t; s++) {
        att_t[s] = std::exp(scores_t[s] - most);
        sum += att_t[s];
    }
    for (int s = 0; s <= t; s++) { att_t[s] /= sum; }
}

void attention(float* out, float* scores, float* att, const float* qkv, int B, int T, int C, int NH) {
    const int HS = C / NH;
    const float root = std::sqrt(static_cast<float>(HS));
    for (int b = 0; b < B; b++) {
        for (int h = 0; h < NH; h++) {
            for (int t = 0; t < T; t++) {
                const float* query_t = qkv + (b * T + t) * 3 * C + h * HS;  // query[b, t, h, :]
                float* scores_t = scores + ((b * NH + h) * T + t) * T;      // scores[b, h, t, :]
                float* att_t = att + ((b * NH + h) * T + t) * T;            // att[b, h, t, :]
                float* out_t = out + (b * T + t) * C + h * HS;              // out[b, t, h, :]
                for (int s = 0; s <= t; s++) {
                    const float* key_s = qkv + (b * T + s) * 3 * C + C + h * HS;  // key[b, s, h, :]
                    float sum = 0.0F;
                    for (int i = 0; i < HS; i++) { sum += query_t[i] * key_s[i]; }
                    scores_t[s] = sum / root;
                }
                softmax(att_t, scores_t, t);
                for (int i = 0; i < HS; i++) { out_t[i] = 0.0F; }
                for (int s = 0; s <= t; s++) {
                    const float* value_s = qkv + (b * T + s) * 3 * C + 2 * C + h * HS;  // value[b, s, h, :]
                    for (int i = 0; i < HS; i++) { out_t[i] += att_t[s] * value_s[i]; }
                }
            }
        }
    }
}

}  // namespace

const Ops plain_ops = {matmul, matmul, layernorm, attention, nullptr, nullptr};
