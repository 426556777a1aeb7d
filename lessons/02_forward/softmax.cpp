// SPDX-License-Identifier: MIT
//
// probs[n, v] = exp(logits[n, v]) / sum over v < V of exp(logits[n, v]), for v < V
//
// Over the V tokens of the vocabulary; the columns from V to Vp only pad the row. The largest logit is subtracted
// first, as in causal_softmax.
#include <algorithm>
#include <cmath>

#include "lessons/gpt2/ops.h"

void softmax(float* probs,         // (N, Vp)
             const float* logits,  // (N, Vp)
             int N, int V, int Vp, Context&) {
    for (int n = 0; n < N; n++) {
        const float* logits_n = logits + n * Vp;  // logits[n, :]
        float* probs_n = probs + n * Vp;          // probs[n, :]
        // TODO: the largest of the V logits, then the exponentials and their sum, then the probabilities.
    }
}
