// SPDX-License-Identifier: MIT
//
// Tiles, but no packing: the innermost loop takes each weight from a row of its own, C floats from the next.
#include <algorithm>

#include "lessons/gpt2/ops.h"

namespace {

constexpr int kTileN = 8;
constexpr int kTileO = 8;

}  // namespace

void matmul(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC, int out_stride,
            Context&) {
    for (int n = 0; n < N; n += kTileN) {
        for (int o = 0; o < OC; o += kTileO) {
            const int rows = std::min(kTileN, N - n), channels = std::min(kTileO, OC - o);
            float tile[kTileN][kTileO] = {};
            for (int c = 0; c < C; c++) {
                for (int j = 0; j < channels; j++) {
                    for (int i = 0; i < rows; i++) { tile[i][j] += inp[(n + i) * C + c] * weight[(o + j) * C + c]; }
                }
            }
            for (int i = 0; i < rows; i++) {
                for (int j = 0; j < channels; j++) {
                    out[(n + i) * out_stride + o + j] = (bias != nullptr ? bias[o + j] : 0.0f) + tile[i][j];
                }
            }
        }
    }
}
