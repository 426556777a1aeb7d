// SPDX-License-Identifier: MIT
//
// Right, and leaves two processes behind that never end: one of a program, and one that has left its process group. Their
// numbers are appended to the file that SOL_FAKE_PIDS names.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "checker/tests/fakes/fake.h"

namespace {

void leave_processes() {
    const std::string file = std::getenv("SOL_FAKE_PIDS");
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        for (;;) { pause(); }
    }
    if (std::system(("sleep 100000 & echo " + std::to_string(child) + " $! >> " + file).c_str()) != 0) {
        std::abort();
    }
    if (std::getenv("SOL_FAKE_LOOPS") != nullptr) {
        for (;;) { pause(); }
    }
}

}  // namespace

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    static bool left = false;
    if (!left) {
        left = true;
        leave_processes();
    }
    twice_rightly(out, inp, N, C, stride);
}
