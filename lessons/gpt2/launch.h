// SPDX-License-Identifier: MIT
//
// What every kernel file needs beside its kernels: how many blocks cover the data, and the check after a launch.
#pragma once

#include "checker/cuda_check.h"

using checker::check;  // check(cudaGetLastError()): throws where the launch before it was refused

// How many groups of `size` cover `count` elements; the last one may be partly empty.
constexpr unsigned int ceil_div(long count, long size) {
    return static_cast<unsigned int>((count + size - 1) / size);
}
