// SPDX-License-Identifier: MIT
#include "checker/simt/libraries/cublas_handle.h"

#include <fmt/core.h>

#include <cstdint>
#include <utility>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/objects.h"
#include "checker/simt/runtime/streams/capture.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {

cublasStatus_t refuse(const char* function, cublasStatus_t status, const std::string& why) {
    tell_refusal(function, fmt::format("{}: {}", cublasGetStatusName(status), why));
    return status;
}

bool is_handle(cublasHandle_t handle) {
    return is_object(handle);
}

// Section "cublasStatus_t": what a function gives without a handle that cublasCreate() gave.
cublasStatus_t no_handle(const char* function) {
    return refuse(function, CUBLAS_STATUS_NOT_INITIALIZED,
                  "the handle is none that cublasCreate() gave (cublasStatus_t)");
}

std::optional<Element> element_of(cudaDataType type) {
    switch (type) {
        case CUDA_R_32F:
            return Element::fp32;
        case CUDA_R_64F:
            return Element::fp64;
        case CUDA_R_16F:
            return Element::fp16;
        case CUDA_R_16BF:
            return Element::bf16;
        default:
            return std::nullopt;
    }
}

bool is_operation(cublasOperation_t op) {
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

Inputs inputs_of_compute(int compute) {
    switch (compute) {
        case CUBLAS_COMPUTE_32F_FAST_TF32:
            return Inputs::tf32;
        case CUBLAS_COMPUTE_32F_FAST_16F:
            return Inputs::fp16;
        case CUBLAS_COMPUTE_32F_FAST_16BF:
            return Inputs::bf16;
        default:
            return Inputs::as_they_are;
    }
}

Scalar::Scalar(const char* name, const void* where, Element type, cublasPointerMode_t mode) : name_(name), type_(type) {
    if (mode == CUBLAS_POINTER_MODE_DEVICE) {
        on_device_ = where;
    } else {
        value_ = value_of(where, type);
    }
}

double Scalar::value(RunningCall& call) const {
    if (on_device_ == nullptr) {
        return value_;
    }
    double room = 0;  // as large as any of them
    call.fetches({.text = name_, .data = on_device_, .element_bytes = bytes_of(type_), .rows = 1}, &room);
    return value_of(&room, type_);
}

// What a function gives where the device cannot take the call: not verified.
cublasStatus_t issue_into(const LibraryCall& call, std::function<void(RunningCall&)> body) {
    return issue(call, std::move(body))
               ? CUBLAS_STATUS_SUCCESS
               : refuse(call.name, CUBLAS_STATUS_EXECUTION_FAILED, "the device has no such stream, or failed before");
}

cublasStatus_t issue_into(cublasHandle_t handle, const char* name, const void* site,
                          std::function<void(RunningCall&)> body) {
    return issue_into({name, handle->stream, site}, std::move(body));
}

namespace {

// The value of a handle's setting.
template <class T>
cublasStatus_t get(const char* function, cublasHandle_t handle, T cublasContext::*setting, T* value) {
    if (!is_handle(handle)) {
        return no_handle(function);
    }
    if (value == nullptr) {
        return refuse(function, CUBLAS_STATUS_INVALID_VALUE,
                      fmt::format("the result's address is null ({}())", function));
    }
    *value = handle->*setting;
    return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t set(const char* function, cublasHandle_t handle, T cublasContext::*setting, T value, bool known) {
    if (!is_handle(handle)) {
        return no_handle(function);
    }
    if (!known) {
        return refuse(function, CUBLAS_STATUS_INVALID_VALUE,
                      fmt::format("{} is no such mode ({}())", static_cast<int>(value), function));
    }
    handle->*setting = value;
    return CUBLAS_STATUS_SUCCESS;
}

// Section "cublasCreate()": it allocates on the device, which a capture does not allow; cublasDestroy() gives it back. Which
// status says so was not verified.
bool may_allocate(const char* function, const void* site) {
    const bool may = Captures::instance().may_be_unsafe({function, site}) == cudaSuccess;
    if (!may) {
        refuse(function, CUBLAS_STATUS_ALLOC_FAILED, "a stream is being captured: make handles before that");
    }
    return may;
}

bool is_math_mode(cublasMath_t mode) {
    const int rest = static_cast<int>(mode) & ~static_cast<int>(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    return (rest >= CUBLAS_DEFAULT_MATH && rest <= CUBLAS_FP32_EMULATED_BF16X9_MATH) ||
           rest == CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH;
}

}  // namespace
}  // namespace simt

using simt::is_handle;
using simt::no_handle;
using simt::refuse;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    if (handle == nullptr) {
        return refuse("cublasCreate", CUBLAS_STATUS_INVALID_VALUE, "the handle's address is null (cublasCreate())");
    }
    if (!simt::may_allocate("cublasCreate", __builtin_return_address(0))) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    *handle = new cublasContext;
    simt::note_setup();
    simt::note_object(*handle, "a handle of cuBLAS", __builtin_return_address(0));
    return CUBLAS_STATUS_SUCCESS;
}

// Section "cublasCreate()": cublasDestroy() waits for the device.
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (!is_handle(handle)) {
        return no_handle("cublasDestroy");
    }
    if (!simt::may_allocate("cublasDestroy", __builtin_return_address(0))) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    const simt::ApiLock turn;
    simt::Streams::instance().wait_for_all();
    simt::forget_object(handle);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version) {
    static_cast<void>(handle);
    if (version == nullptr) {
        return refuse("cublasGetVersion", CUBLAS_STATUS_INVALID_VALUE,
                      "the result's address is null (cublasGetVersion())");
    }
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
    constexpr int kVersion[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
        return refuse("cublasGetProperty", CUBLAS_STATUS_INVALID_VALUE,
                      "the type is none, or the result's address is null (cublasGetProperty())");
    }
    *value = kVersion[type];
    return CUBLAS_STATUS_SUCCESS;
}

std::size_t cublasGetCudartVersion() {
    int version = 0;
    cudaRuntimeGetVersion(&version);
    return static_cast<std::size_t>(version);
}

// Section "cublasSetStream()": the workspace that the program gave is given up.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    if (!is_handle(handle)) {
        return no_handle("cublasSetStream");
    }
    handle->stream = stream;
    handle->has_workspace = false;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
    return simt::get("cublasGetStream", handle, &cublasContext::stream, stream);
}

// The CPU device needs no workspace. Section "cublasSetWorkspace()": it must be at a multiple of 256 bytes.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
    if (!is_handle(handle)) {
        return no_handle("cublasSetWorkspace");
    }
    constexpr std::uintptr_t kAlignment = 256;
    if (bytes > 0 && reinterpret_cast<std::uintptr_t>(workspace) % kAlignment != 0) {
        return refuse("cublasSetWorkspace", CUBLAS_STATUS_INVALID_VALUE,
                      "the workspace is not at a multiple of 256 bytes (cublasSetWorkspace())");
    }
    handle->has_workspace = bytes > 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
    return simt::set("cublasSetPointerMode", handle, &cublasContext::pointers, mode,
                     mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
    return simt::get("cublasGetPointerMode", handle, &cublasContext::pointers, mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
    return simt::set("cublasSetAtomicsMode", handle, &cublasContext::atomics, mode,
                     mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
    return simt::get("cublasGetAtomicsMode", handle, &cublasContext::atomics, mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    return simt::set("cublasSetMathMode", handle, &cublasContext::math, mode, simt::is_math_mode(mode));
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
    return simt::get("cublasGetMathMode", handle, &cublasContext::math, mode);
}

const char* cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
#define SIMT_STATUS(name) \
    case name:            \
        return #name;
        SIMT_STATUS(CUBLAS_STATUS_SUCCESS)
        SIMT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED)
        SIMT_STATUS(CUBLAS_STATUS_ALLOC_FAILED)
        SIMT_STATUS(CUBLAS_STATUS_INVALID_VALUE)
        SIMT_STATUS(CUBLAS_STATUS_ARCH_MISMATCH)
        SIMT_STATUS(CUBLAS_STATUS_MAPPING_ERROR)
        SIMT_STATUS(CUBLAS_STATUS_EXECUTION_FAILED)
        SIMT_STATUS(CUBLAS_STATUS_INTERNAL_ERROR)
        SIMT_STATUS(CUBLAS_STATUS_NOT_SUPPORTED)
        SIMT_STATUS(CUBLAS_STATUS_LICENSE_ERROR)
#undef SIMT_STATUS
    }
    return "unrecognized status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS:
            return "success";
        case CUBLAS_STATUS_NOT_INITIALIZED:
            return "the library was not initialized";
        case CUBLAS_STATUS_ALLOC_FAILED:
            return "the resource allocation failed";
        case CUBLAS_STATUS_INVALID_VALUE:
            return "an unsupported value or parameter was passed to the function";
        case CUBLAS_STATUS_ARCH_MISMATCH:
            return "the function requires an architectural feature absent from the device";
        case CUBLAS_STATUS_MAPPING_ERROR:
            return "an access to GPU memory space failed";
        case CUBLAS_STATUS_EXECUTION_FAILED:
            return "the function failed to launch on the GPU";
        case CUBLAS_STATUS_INTERNAL_ERROR:
            return "an internal operation failed";
        case CUBLAS_STATUS_NOT_SUPPORTED:
            return "the requested functionality is not supported";
        case CUBLAS_STATUS_LICENSE_ERROR:
            return "the license check failed";
    }
    return "unrecognized status";
}

}  // extern "C"
