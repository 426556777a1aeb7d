// SPDX-License-Identifier: MIT
//
// Calls itself without end, in a thread of its own.
#include <thread>

#include "checker/tests/fakes/fake.h"

static int depth(int N) {
    volatile char frame[4096];
    frame[0] = static_cast<char>(N);
    return N > 0 ? depth(N) + frame[0] : 0;  // it is, always
}

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    std::thread other([&] { out[0] = inp[0] + static_cast<float>(depth(N) + C + stride); });
    other.join();
}
