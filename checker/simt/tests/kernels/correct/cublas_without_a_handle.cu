// SPDX-License-Identifier: MIT
// verdict: correct
// What cuBLAS says without a handle. It needs no GPU, and cuBLAS 13.1 says the same.
#include <cublas_v2.h>

#include <cstdio>
#include <cstring>

namespace {

bool right = true;

void expect(bool holds, const char* what) {
    if (!holds) {
        std::printf("%s: not so\n", what);
        right = false;
    }
}

void says(cublasStatus_t status, const char* name, const char* text) {
    expect(std::strcmp(cublasGetStatusName(status), name) == 0 && std::strcmp(cublasGetStatusString(status), text) == 0,
           name);
}

}  // namespace

int main() {
    says(CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success");
    says(CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized");
    says(CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed");
    says(CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
         "an unsupported value or parameter was passed to the function");
    says(CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
         "the function requires an architectural feature absent from the device");
    says(CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed");
    says(CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU");
    says(CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed");
    says(CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported");
    says(CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the license check failed");
    says(static_cast<cublasStatus_t>(5), "unrecognized status", "unrecognized status");

    constexpr cublasStatus_t kNone = CUBLAS_STATUS_NOT_INITIALIZED;
    int number = -1;
    expect(cublasCreate(nullptr) == CUBLAS_STATUS_INVALID_VALUE, "cublasCreate");
    expect(cublasDestroy(nullptr) == kNone, "cublasDestroy");
    expect(cublasGetVersion(nullptr, &number) == CUBLAS_STATUS_SUCCESS && number == CUBLAS_VERSION, "cublasGetVersion");
    expect(cublasGetProperty(MAJOR_VERSION, &number) == CUBLAS_STATUS_SUCCESS && number == CUBLAS_VER_MAJOR,
           "cublasGetProperty");
    expect(cublasGetProperty(static_cast<libraryPropertyType>(5), &number) == CUBLAS_STATUS_INVALID_VALUE,
           "cublasGetProperty of another property");
    expect(cublasGetProperty(MAJOR_VERSION, nullptr) == CUBLAS_STATUS_INVALID_VALUE, "cublasGetProperty to nowhere");
    expect(cublasSetStream(nullptr, nullptr) == kNone, "cublasSetStream");
    // The handle is looked at first, whatever else is wrong.
    expect(cublasSetMathMode(nullptr, static_cast<cublasMath_t>(7)) == kNone, "cublasSetMathMode");
    expect(cublasGetMathMode(nullptr, nullptr) == kNone, "cublasGetMathMode");
    expect(cublasSetPointerMode(nullptr, static_cast<cublasPointerMode_t>(7)) == kNone, "cublasSetPointerMode");
    expect(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, -1, 1, 1, nullptr, nullptr, 0, nullptr, 1, nullptr, nullptr,
                       1) == kNone,
           "cublasSgemm");
    expect(
        cublasGemmEx(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, -1, 1, 1, nullptr, nullptr, CUDA_R_32F, 1, nullptr, CUDA_R_32F,
                     1, nullptr, nullptr, CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == kNone,
        "cublasGemmEx");
    expect(cublasSgeam(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, nullptr, nullptr, 1, nullptr, nullptr, 1, nullptr, 1) ==
               kNone,
           "cublasSgeam");
    expect(cublasSgemv(nullptr, CUBLAS_OP_N, 1, 1, nullptr, nullptr, 1, nullptr, 1, nullptr, nullptr, 1) == kNone,
           "cublasSgemv");
    expect(cublasSaxpy(nullptr, 1, nullptr, nullptr, 1, nullptr, 1) == kNone, "cublasSaxpy");
    expect(cublasSnrm2(nullptr, 0, nullptr, 1, nullptr) == kNone, "cublasSnrm2");
    return right ? 0 : 1;
}
