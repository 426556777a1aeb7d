// SPDX-License-Identifier: MIT
//
// A wrong solution: normalises each column over the rows.
#include <algorithm>
#include <cmath>

#include "lessons/gpt2/ops.h"

void softmax(float* probs, const float* logits, int N, int V, int Vp, Context&) {
    for (int v = 0; v < V; v++) {
        float max = logits[v];
        for (int n = 1; n < N; n++) { max = std::max(max, logits[n * Vp + v]); }
        float sum = 0.0f;
        for (int n = 0; n < N; n++) { sum += std::exp(logits[n * Vp + v] - max); }
        for (int n = 0; n < N; n++) { probs[n * Vp + v] = std::exp(logits[n * Vp + v] - max) / sum; }
    }
}
