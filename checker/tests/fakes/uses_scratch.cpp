// SPDX-License-Identifier: MIT
//
// Adds what the scratch holds, which nobody wrote.
#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    twice_rightly(out, inp, N, C, stride);
    out[0] += *static_cast<float*>(scratch);
}
