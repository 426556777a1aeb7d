// SPDX-License-Identifier: MIT
//
// A profiler's marks, which nothing reads here.
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"

inline cudaError_t cudaProfilerStart() {
    return cudaSuccess;
}
inline cudaError_t cudaProfilerStop() {
    return cudaSuccess;
}
