// SPDX-License-Identifier: MIT
//
// losses[n] = -log(probs[n, targets[n]])
//
// How surprised the model is by the token that came: 0 if it was certain, log(V) if it had no idea.
#include <cmath>

#include "lessons/gpt2/ops.h"

void crossentropy(float* losses,       // (N)
                  const float* probs,  // (N, Vp)
                  const int* targets,  // (N), each in [0, V)
                  int N, int Vp, Context&) {
    for (int n = 0; n < N; n++) {
        const float* probs_n = probs + n * Vp;  // probs[n, :]
        // TODO: the loss of row n, from the probability of its target. std::log is the natural logarithm.
    }
}
