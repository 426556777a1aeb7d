// SPDX-License-Identifier: MIT
//
// What every kernel file needs beside its kernels: how many blocks cover the data, whether it may be moved in float4s, and
// the check after a launch.
#pragma once

#include <cstdint>

#include "checker/cuda_check.h"

using checker::check;  // check(cudaGetLastError()): throws where the launch before it was refused

// How many groups of `size` cover `count` elements; the last one may be partly empty.
constexpr unsigned int ceil_div(long count, long size) {
    return static_cast<unsigned int>((count + size - 1) / size);
}

// Whether all of these start at a multiple of 16 bytes, as a float4 must.
template <class... Pointers>
bool is_aligned_16(Pointers... pointers) {
    return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}
