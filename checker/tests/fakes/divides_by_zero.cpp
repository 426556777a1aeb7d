// SPDX-License-Identifier: MIT
//
// Divides integers by zero.
#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    twice_rightly(out, inp, N, C, stride);
    volatile int zero = 0;
    out[0] = static_cast<float>(N / zero);
}
