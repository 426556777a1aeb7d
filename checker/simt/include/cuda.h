// SPDX-License-Identifier: MIT
//
// The names of CUDA's driver API that programs of the runtime use too. The rest of it is refused where it is used.
#pragma once
#pragma GCC system_header

#include "driver_types.h"
#include "simt/driver_refused.h"

#define CUDA_VERSION 13000

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_SUPPORTED = 801 };
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
