// SPDX-License-Identifier: MIT
//
// nvcc compiles a file twice, with __CUDA_ARCH__ for the device and without it for the host. The CPU device has one
// compilation, of the device's text: here functions get back what the host's text says of them.
#pragma once

#include <string>

#include "checker/simt/lower/tokens.h"

namespace simt {

struct BothSides {
    std::string text;
    std::string warning;  // a line with its end, if the sides differ in something else than a function's body
};

// A __host__ __device__ function whose body depends on __CUDA_ARCH__ gets both, and chooses when it is called; one of
// the host gets the host's.
BothSides both_sides(const Source& device, const Source& host);

}  // namespace simt
