// SPDX-License-Identifier: MIT
//
// Takes memory until there is none.
#include <cstdlib>
#include <cstring>

#include "checker/tests/fakes/fake.h"

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride) {
    static_cast<void>(scratch);
    constexpr std::size_t kChunk = std::size_t{64} << 20;
    for (void* chunk = std::malloc(kChunk); chunk != nullptr; chunk = std::malloc(kChunk)) {
        std::memset(chunk, 1, kChunk);
        asm volatile("" : : "r"(chunk) : "memory");
    }
    twice_rightly(out, inp, N, C, stride);
}
