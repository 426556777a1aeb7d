// SPDX-License-Identifier: MIT
//
// Reads through a null pointer in a thread of its own.
#include <thread>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    std::thread other([&] {
        twice_rightly(out, inp, N, C, stride);
        const volatile float* volatile nowhere = nullptr;
        out[0] += nowhere[3];
    });
    other.join();
}
