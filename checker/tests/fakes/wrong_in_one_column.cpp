// SPDX-License-Identifier: MIT
//
// Wrong in column 3.
#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    twice_rightly(out, inp, N, C, stride);
    for (int n = 0; n < N; n++) { out[n * stride + 3] += 0.25F; }
}
