// SPDX-License-Identifier: MIT
//
// Claims to be right in every way that a program can print.
#include <cstdio>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    static_cast<void>(inp), static_cast<void>(N), static_cast<void>(C), static_cast<void>(stride);
    out[0] = 1.0F;
    std::puts("ok");
    std::puts("[  PASSED  ] 5 tests.");
    std::puts("all ok  1 ok of 1 op\033[2J");
}
