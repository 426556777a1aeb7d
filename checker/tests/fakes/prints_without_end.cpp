// SPDX-License-Identifier: MIT
//
// Prints for ever.
#include <cstdio>

#include "checker/tests/fakes/fake.h"

void twice(float*, const float*, void*, int, int, int) {
    for (;;) { std::puts("and on it goes"); }
}
