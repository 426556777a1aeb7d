// SPDX-License-Identifier: MIT
//
// Errors of the CUDA runtime as exceptions: check(cudaMalloc(&p, bytes)), and check(cudaGetLastError()) after a launch.
#pragma once

#include <cuda_runtime.h>

#include <source_location>

#include "checker/status_error.h"

namespace checker {

struct CudaError : StatusError {
    CudaError(cudaError_t which, const std::source_location& where)
        : StatusError(where, cudaGetErrorName(which), cudaGetErrorString(which)), code(which) {}
    cudaError_t code;
};

// Throws CudaError, naming the caller's file and line. Forgets the error first, so that the check after the next
// launch does not find it again.
inline void check(cudaError_t status, std::source_location where = std::source_location::current()) {
    if (status == cudaSuccess) {
        return;
    }
    static_cast<void>(cudaGetLastError());
    throw CudaError(status, where);
}

}  // namespace checker
