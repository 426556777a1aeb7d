// SPDX-License-Identifier: MIT
//
// The names of CUDA's driver API that programs of the runtime use too. Its functions are not on the CPU device.
#pragma once
#pragma GCC system_header

#include "driver_types.h"

#define CUDA_VERSION 13000

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_SUPPORTED = 801 };
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;

#define SIMT_MISSING(name) __attribute__((unavailable(#name " is not on the CPU device"))) CUresult name(...)
SIMT_MISSING(cuInit);
SIMT_MISSING(cuCtxCreate);
SIMT_MISSING(cuDeviceGet);
SIMT_MISSING(cuDeviceGetAttribute);
SIMT_MISSING(cuGetErrorString);
SIMT_MISSING(cuGetErrorName);
SIMT_MISSING(cuMemFree);
SIMT_MISSING(cuMemcpyHtoD);
SIMT_MISSING(cuMemcpyDtoH);
SIMT_MISSING(cuModuleGetFunction);
SIMT_MISSING(cuModuleLoadData);
SIMT_MISSING(cuMemAddressReserve);
SIMT_MISSING(cuMemCreate);
SIMT_MISSING(cuCtxSynchronize);
SIMT_MISSING(cuLaunchKernel);
SIMT_MISSING(cuMemAlloc);
SIMT_MISSING(cuModuleLoad);
SIMT_MISSING(cuTensorMapEncodeTiled);
#undef SIMT_MISSING
