// SPDX-License-Identifier: MIT
//
// x[s] = scale * scores[b, h, t, s], for s <= t
// lse[b, h, t] = log of the sum over s <= t of exp(x[s])
// att[b, h, t, s] = exp(x[s] - lse) for s <= t, exactly 0 for s > t
//
// exp(x) overflows a float from x = 88.73 on. With the largest x of the row subtracted, every exponent is at most 0, the
// sum at least 1, and the quotient is the same: the factor exp(-max) cancels.
#include <algorithm>
#include <cmath>

#include "lessons/gpt2/ops.h"

void causal_softmax(float* att,           // (B, NH, T, T)
                    float* lse,           // (B, NH, T)
                    const float* scores,  // (B, NH, T, T)
                    float scale, int B, int NH, int T, Context&) {
    for (int bh = 0; bh < B * NH; bh++) {
        for (int t = 0; t < T; t++) {
            const float* scores_t = scores + (bh * T + t) * T;  // scores[b, h, t, :]
            float* att_t = att + (bh * T + t) * T;              // att[b, h, t, :]
            // TODO: over s <= t only: the largest scaled score, then the exponentials and their sum, then the
            // probabilities. Zero the rest of att_t. Store the log-sum-exp of this row at index bh * T + t.
        }
    }
}
