// SPDX-License-Identifier: MIT
//
// cuda::std has the names of the C++ library (libcu++, "Standard API Reference"): a kernel here is compiled as the host's code,
// so it may use them as they are.
#pragma once
#pragma GCC system_header

#include <cstddef>

namespace cuda::std {
using namespace ::std;
}  // namespace cuda::std
