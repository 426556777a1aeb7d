// SPDX-License-Identifier: MIT
//
// The op of the checker's own tests: out[n, c] = 2 * inp[n, c] for c < C, with rows `stride` apart. It comes in one
// right and many wrong implementations, each a shared object made from one file of this folder.
#pragma once

#include <cstddef>

void twice(float* out, const float* inp, void* scratch, int N, int C, int stride);

// A template over its elements, as an op is that comes in several types: values[i] *= 3.
template <class T>
void thrice(T* values, int N);

inline constexpr std::size_t kFakeScratchBytes = 100;

inline void twice_rightly(float* out, const float* inp, int N, int C, int stride) {
    for (int n = 0; n < N; n++) {
        for (int c = 0; c < C; c++) { out[n * stride + c] = 2.0F * inp[n * stride + c]; }
    }
}
