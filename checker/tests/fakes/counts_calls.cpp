// SPDX-License-Identifier: MIT
//
// Gives another result each time.
#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    static int calls = 0;
    twice_rightly(out, inp, N, C, stride);
    out[0] += static_cast<float>(++calls);
}
