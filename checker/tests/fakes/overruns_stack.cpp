// SPDX-License-Identifier: MIT
//
// Calls itself without end.
#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    volatile char frame[4096];
    frame[0] = static_cast<char>(N);
    if (N > 0) {  // it is, always
        twice(out, inp, scratch, N, C, stride);
    }
    out[0] = static_cast<float>(frame[0]);
}
