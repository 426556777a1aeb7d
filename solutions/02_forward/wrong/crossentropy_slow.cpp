// SPDX-License-Identifier: MIT
//
// A slow solution: the logarithm of every probability, to use one of each row.
#include <cmath>
#include <vector>

#include "lessons/gpt2/ops.h"

void crossentropy(float* losses, const float* probs, const int* targets, int N, int Vp, Context&) {
    std::vector<float> row(Vp);
    for (int n = 0; n < N; n++) {
        for (int v = 0; v < Vp; v++) { row[v] = -std::log(probs[n * Vp + v]); }
        losses[n] = row[targets[n]];
    }
}
