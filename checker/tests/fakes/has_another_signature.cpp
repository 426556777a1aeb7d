// SPDX-License-Identifier: MIT
//
// The input is not const, which is another function.
#include "checker/tests/fakes/fake.h"

void twice(float* out, float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    twice_rightly(out, inp, N, C, stride);
}
