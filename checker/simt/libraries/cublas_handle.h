// SPDX-License-Identifier: MIT
//
// A handle of cuBLAS, and how its functions refuse a call.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "checker/simt/include/cublas_api.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/libraries/product.h"

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
    bool has_workspace = false;  // the program's
};

namespace simt {

// Whether cublasCreate() gave it, and nobody has destroyed it.
bool is_handle(cublasHandle_t handle);

// Returns the status, and tells why with SIMT_VERBOSE=1: "lda = 3 is less than m = 4 (cublas<t>gemm())".
cublasStatus_t refuse(const char* function, cublasStatus_t status, const std::string& why);
cublasStatus_t no_handle(const char* function);

std::optional<Element> element_of(cudaDataType type);
bool is_operation(cublasOperation_t op);
// What a compute type alone rounds factors of 32 bits to.
Inputs inputs_of_compute(int compute);

// alpha or beta: the host's value, read when the call is issued, or the device's, read when its stream comes to it.
class Scalar {
  public:
    Scalar(const char* name, const void* where, Element type, cublasPointerMode_t mode);
    double value(RunningCall& call) const;

  private:
    const char* name_;
    const void* on_device_ = nullptr;
    Element type_;
    double value_ = 0;
};

// Puts the call into its stream; into the handle's.
cublasStatus_t issue_into(const LibraryCall& call, std::function<void(RunningCall&)> body);
cublasStatus_t issue_into(cublasHandle_t handle, const char* name, const void* site,
                          std::function<void(RunningCall&)> body);

}  // namespace simt
