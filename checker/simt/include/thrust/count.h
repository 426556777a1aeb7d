// SPDX-License-Identifier: MIT
#pragma once
#pragma GCC system_header

#include "../cuda_runtime.h"
#pragma simt refuses thrust::Thrust
