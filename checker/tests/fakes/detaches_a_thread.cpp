// SPDX-License-Identifier: MIT
//
// A detached thread computes the last row, and the call waits only until the row is there. Then the thread does as
// SOL_FAKE_THREAD says: it runs without end, or sleeps as a pool's does between calls; else it ends.
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    static std::atomic<int> rows{0};
    static std::atomic<bool> runs{false}, sleeps{false};
    const std::string then = std::getenv("SOL_FAKE_THREAD");
    runs = then == "runs";
    sleeps = then == "sleeps";
    const int before = rows;
    std::thread([=] {
        const int first = (N - 1) * stride;
        twice_rightly(out + first, inp + first, 1, C, stride);
        rows++;
        rows.notify_all();
        while (runs) {}
        sleeps.wait(true);
    }).detach();
    twice_rightly(out, inp, N - 1, C, stride);
    rows.wait(before);
}
