// SPDX-License-Identifier: MIT
//
// Errors of cuBLAS as exceptions, check(cublasSgemm(…)), and a handle that is destroyed with its owner.
#pragma once

#include <cublas_v2.h>

#include <source_location>

#include "checker/status_error.h"

namespace checker {

// Throws StatusError, naming the caller's file and line.
inline void check(cublasStatus_t status, std::source_location where = std::source_location::current()) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw StatusError(where, cublasGetStatusName(status), cublasGetStatusString(status));
    }
}

// cuBLAS's state: the stream that it works on, its math mode, its workspace. Making one takes memory and milliseconds, so
// a Context keeps it: ctx.handle<CublasHandle>().
class CublasHandle {
  public:
    CublasHandle() { check(cublasCreate(&handle_)); }
    ~CublasHandle() { static_cast<void>(cublasDestroy(handle_)); }
    CublasHandle(const CublasHandle&) = delete;
    CublasHandle& operator=(const CublasHandle&) = delete;

    operator cublasHandle_t() const { return handle_; }

  private:
    cublasHandle_t handle_ = nullptr;
};

}  // namespace checker
