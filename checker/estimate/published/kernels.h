// SPDX-License-Identifier: MIT
//
// Kernels of our own that are built as published ones are said to be: with their tiles, threads and widths of access. An
// estimate of one is held against what was measured of the published one (published.toml).
#pragma once

#include <vector>

namespace published {

inline constexpr float kAlpha = 1.0f, kBeta = 0.5f;  // of c = alpha * a * b + beta * c

// What a kernel works on. Which sizes it has, and which buffers it reads and writes, is its family's.
struct Problem {
    long M = 1, N = 1, K = 1;
    float* out = nullptr;
    const float *a = nullptr, *b = nullptr;
};

struct Published {
    const char* name;  // within its family
    void (*launch)(const Problem& problem);
};

extern const std::vector<Published> sgemm;   // sgemm.cu
extern const std::vector<Published> copies;  // copies.cu: copies, sums of two arrays, transposes
extern const std::vector<Published> sums;    // sums.cu: all elements added up
extern const std::vector<Published> norms;   // norms.cu: layernorm and RMSNorm

}  // namespace published
