// SPDX-License-Identifier: MIT
//
// Takes the element after the last one of the input into the sum.
#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    twice_rightly(out, inp, N, C, stride);
    out[0] = 2.0F * inp[0] + 0.0F * inp[N * stride];
}
