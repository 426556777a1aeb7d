// SPDX-License-Identifier: MIT
//
// out[i] = inp1[i] + inp2[i]
//
// One addition for 12 bytes moved: as fast as memory, if the loop is one that the compiler can vectorise.
#include "lessons/gpt2/ops.h"

void residual(float* out,         // (N)
              const float* inp1,  // (N)
              const float* inp2,  // (N)
              int N, Context&) {
    // TODO: add the two inputs, element by element, in index order.
}
