// SPDX-License-Identifier: MIT
//
// The built-in variables. The runtime sets them whenever it turns to another thread; for the thread itself they are
// constant, so a compiler may keep them in registers.
#pragma once
#pragma GCC system_header

#include "../vector_types.h"

extern const uint3 threadIdx;
extern const uint3 blockIdx;
// They are of type uint3, because a constant of a class with constructors gets hooks like any variable.
extern const uint3 blockDim;
extern const uint3 gridDim;
inline constexpr int warpSize = 32;
