// SPDX-License-Identifier: MIT
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
// clang-format off
#pragma simt refuses nvcuda:: tensor cores (wmma)
// clang-format on
