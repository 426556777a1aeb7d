// SPDX-License-Identifier: MIT
//
// Writes through a null pointer.
#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    twice_rightly(out, inp, N, C, stride);
    volatile float* volatile nowhere = nullptr;
    nowhere[3] = 1.0F;
}
