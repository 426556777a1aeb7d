// SPDX-License-Identifier: MIT
//
// Ends the program before anything is called.
#include <cstdlib>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    twice_rightly(out, inp, N, C, stride);
}

[[maybe_unused]] static const int loaded = (std::abort(), 0);
