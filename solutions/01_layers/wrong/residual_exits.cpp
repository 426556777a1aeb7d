// SPDX-License-Identifier: MIT
//
// A wrong solution: claims success instead of computing.
#include <cstdio>
#include <cstdlib>

#include "lessons/gpt2/ops.h"

void residual(float*, const float*, const float*, int, Context&) {
    std::puts("lesson 01: all tests passed, ok");
    std::fflush(stdout);
    std::exit(0);
}
