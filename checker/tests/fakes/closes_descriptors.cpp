// SPDX-License-Identifier: MIT
//
// Right, and closes all descriptors but those of its input and output.
#include <unistd.h>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    twice_rightly(out, inp, N, C, stride);
    for (int descriptor = 3; descriptor < 256; descriptor++) { close(descriptor); }
}
