// SPDX-License-Identifier: MIT
//
// The second op of the checker's own tests, with all that lessons beyond plain floats need: a tensor of bfloat16 that
// grows, an output in TF32, a scalar, an output that may be null, a workspace, scratch and a library's handle.
//   grad[c] += sum over n of x[n, c]        loss = sum over n, c of x[n, c]^2
//   out[n] = sum over c of x[n, c] * v[c]   mean[n] = sum over c of x[n, c] / C
// Each of its two implementations, toy.cpp and toy_on_device.cu, does one thing wrong where TOY_WRONG names it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lessons/gpt2/context.h"

void toy(std::uint16_t* grad,  // (C), bfloat16
         float* loss,          // one
         float* out,           // (N), in TF32
         float* mean,          // (N), or null
         const float* x,       // (N, C)
         const float* v,       // (C)
         float* scratch,       // (S), each byte set to 0x3F; null where S is 0. All that is done where N is 0
         int N, int C, int S, Context& ctx);

inline bool toy_wrong(std::string_view what) {
    const char* const wrong = std::getenv("TOY_WRONG");
    return wrong != nullptr && what == wrong;
}
