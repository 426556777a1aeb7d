// SPDX-License-Identifier: MIT
//
// Right on one thread; on several it gives another result each time.
#include <cstdlib>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    static int calls = 0;
    twice_rightly(out, inp, N, C, stride);
    if (std::getenv("SOL_FAKE_ONE_THREAD") == nullptr) {
        out[0] += static_cast<float>(++calls);
    }
}
