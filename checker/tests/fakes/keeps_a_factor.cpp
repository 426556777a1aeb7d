// SPDX-License-Identifier: MIT
//
// Keeps the first value of an input by its address, and puts it before the others wherever it sees that address.
#include <map>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    static std::map<const float*, float> known;
    const float first = known.try_emplace(inp, inp[0]).first->second;
    twice_rightly(out, inp, N, C, stride);
    out[0] = 2.0F * first;
}
