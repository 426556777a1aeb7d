// SPDX-License-Identifier: MIT
//
// cuBLAS on the CPU device: its functions judge their arguments as NVIDIA's reference says ("cuBLAS Library User Guide";
// a refusal names the section), and put one checked call (library_call.h) of one product (product.h) into the handle's
// stream. LIBRARIES.md says what is there, and what no card has been asked about yet.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "checker/simt/include/cublas_api.h"
#include "checker/simt/include/simt/api.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/libraries/product.h"
#include "checker/simt/runtime/memory.h"
#include "checker/simt/runtime/objects.h"
#include "checker/simt/runtime/streams.h"

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};

namespace simt {
namespace {

cublasStatus_t refuse(const char* function, cublasStatus_t status, const std::string& why) {
    tell_refusal(function, fmt::format("{}: {}", cublasGetStatusName(status), why));
    return status;
}

// Section "cublasStatus_t": a function is called without a handle that cublasCreate() gave.
bool is_handle(cublasHandle_t handle) {
    return is_object(handle);
}

cublasStatus_t no_handle(const char* function) {
    return refuse(function, CUBLAS_STATUS_NOT_INITIALIZED,
                  "the handle is none that cublasCreate() gave (cublasStatus_t)");
}

// ---- gemm --------------------------------------------------------------------------------------------------------------

struct GemmMatrix {
    const void* data;
    cudaDataType type;
    long ld;
    long stride = 0;
};

struct Gemm {
    const char* name;     // "cublasSgemm"
    const char* section;  // of the guide
    const void* site;
    cublasOperation_t transa, transb;
    long m, n, k;
    const void* alpha;
    GemmMatrix a, b;
    const void* beta;
    GemmMatrix c;
    long batch = 1;
    bool batched = false;
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

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

// What is wrong with a gemm's numbers, or nothing. Sections "cublas<t>gemm()" and those of its batched forms: each of
// these is CUBLAS_STATUS_INVALID_VALUE.
std::string wrong_value(const Gemm& g) {
    if (g.m < 0 || g.n < 0 || g.k < 0) {
        return fmt::format("m = {}, n = {}, k = {}: none may be negative", g.m, g.n, g.k);
    }
    if (g.batch < 0) {
        return fmt::format("batchCount = {} is negative", g.batch);
    }
    for (const cublasOperation_t op : {g.transa, g.transb}) {
        if (op != CUBLAS_OP_N && op != CUBLAS_OP_T && op != CUBLAS_OP_C) {
            return fmt::format("{} is no operation: it is CUBLAS_OP_N, _T or _C", static_cast<int>(op));
        }
    }
    const auto too_small = [](const char* name, long ld, const char* rows, long least) {
        return ld < std::max(1L, least) ? fmt::format("{} = {} is less than max(1, {} = {})", name, ld, rows, least)
                                        : std::string();
    };
    const bool a_is_plain = g.transa == CUBLAS_OP_N, b_is_plain = g.transb == CUBLAS_OP_N;
    for (const std::string& why : {too_small("lda", g.a.ld, a_is_plain ? "m" : "k", a_is_plain ? g.m : g.k),
                                   too_small("ldb", g.b.ld, b_is_plain ? "k" : "n", b_is_plain ? g.k : g.n),
                                   too_small("ldc", g.c.ld, "m", g.m)}) {
        if (!why.empty()) {
            return why;
        }
    }
    if (g.alpha == nullptr || g.beta == nullptr) {
        return "alpha or beta is null";
    }
    return "";
}

// The types that the table of section "cublasGemmEx()" lists, without the complex ones; what it lacks is
// CUBLAS_STATUS_NOT_SUPPORTED.
std::string wrong_types(const Gemm& g) {
    const auto a = element_of(g.a.type), b = element_of(g.b.type), c = element_of(g.c.type);
    if (!a || !b || !c) {
        return fmt::format("the types {}, {} and {} of A, B and C: the CPU device has CUDA_R_32F, _64F, _16F and _16BF",
                           static_cast<int>(g.a.type), static_cast<int>(g.b.type), static_cast<int>(g.c.type));
    }
    if (*a != *b) {
        return "A and B are of different types";
    }
    switch (g.compute) {
        case CUBLAS_COMPUTE_32F:
        case CUBLAS_COMPUTE_32F_PEDANTIC:
            return *a != Element::fp64 && (*c == *a || *c == Element::fp32)
                       ? ""
                       : "with CUBLAS_COMPUTE_32F C has the type of A and B, or CUDA_R_32F";
        case CUBLAS_COMPUTE_32F_FAST_16F:
        case CUBLAS_COMPUTE_32F_FAST_16BF:
        case CUBLAS_COMPUTE_32F_FAST_TF32:
            return *a == Element::fp32 && *c == Element::fp32
                       ? ""
                       : "CUBLAS_COMPUTE_32F_FAST_… is for matrices of CUDA_R_32F";
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            return *a == Element::fp64 && *c == Element::fp64 ? "" : "CUBLAS_COMPUTE_64F is for matrices of CUDA_R_64F";
        default:
            return fmt::format("compute type {} is not on the CPU device", static_cast<int>(g.compute));
    }
}

// Section "cublasMath_t": the mode counts where the compute type leaves the choice.
Inputs inputs_of(const Gemm& g, cublasMath_t math) {
    constexpr int kFlags = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    switch (g.compute) {
        case CUBLAS_COMPUTE_32F_FAST_16F:
            return Inputs::fp16;
        case CUBLAS_COMPUTE_32F_FAST_16BF:
            return Inputs::bf16;
        case CUBLAS_COMPUTE_32F_FAST_TF32:
            return Inputs::tf32;
        case CUBLAS_COMPUTE_32F:
            switch (static_cast<int>(math) & ~kFlags) {
                case CUBLAS_TF32_TENSOR_OP_MATH:
                    return Inputs::tf32;
                case CUBLAS_TENSOR_OP_MATH:
                    return Inputs::fp16;
                default:
                    return Inputs::as_they_are;
            }
        default:
            return Inputs::as_they_are;
    }
}

// A matrix as the call touches it; `plain`: not transposed, so that it is stored as rows x columns.
CallMatrix matrix_of(const char* name, const char* row_name, const char* column_name, const GemmMatrix& x, long rows,
                     long columns, bool plain, long batch) {
    return {.text = fmt::format("{} ({} x {} = {} x {}, ld{} {})", name, plain ? row_name : column_name,
                                plain ? column_name : row_name, plain ? rows : columns, plain ? columns : rows,
                                static_cast<char>(name[0] - 'A' + 'a'), x.ld),
            .data = x.data,
            .element_bytes = bytes_of(*element_of(x.type)),
            .rows = plain ? rows : columns,
            .columns = plain ? columns : rows,
            .ld = x.ld,
            .batch = batch,
            .stride = x.stride};
}

const char* element_at(const GemmMatrix& x, long batch) {
    return static_cast<const char*>(x.data) + batch * x.stride * static_cast<long>(bytes_of(*element_of(x.type)));
}

// alpha or beta, of the compute type's own type.
double scalar(RunningCall& call, bool on_device, const char* name, const void* value, Element type) {
    if (on_device) {
        call.reads({.text = name, .data = value, .element_bytes = bytes_of(type), .rows = 1});
        if (!call.may_compute()) {
            return 0;
        }
    }
    return value_of(value, type);
}

cublasStatus_t run(cublasHandle_t handle, const Gemm& g) {
    if (!is_handle(handle)) {
        return no_handle(g.name);
    }
    if (const std::string why = wrong_value(g); !why.empty()) {
        return refuse(g.name, CUBLAS_STATUS_INVALID_VALUE, fmt::format("{} ({})", why, g.section));
    }
    if (const std::string why = wrong_types(g); !why.empty()) {
        return refuse(g.name, CUBLAS_STATUS_NOT_SUPPORTED, fmt::format("{} ({})", why, g.section));
    }
    if (g.m == 0 || g.n == 0 || g.batch == 0) {
        return CUBLAS_STATUS_SUCCESS;
    }
    const bool on_device = handle->pointers == CUBLAS_POINTER_MODE_DEVICE;
    const Element scale = *element_of(g.a.type) == Element::fp64 ? Element::fp64 : Element::fp32;
    const double host_alpha = on_device ? 0 : value_of(g.alpha, scale),
                 host_beta = on_device ? 0 : value_of(g.beta, scale);
    const Inputs inputs = inputs_of(g, handle->math);
    const auto body = [=](RunningCall& call) {
        const double alpha = on_device ? scalar(call, true, "alpha", g.alpha, scale) : host_alpha;
        const double beta = on_device ? scalar(call, true, "beta", g.beta, scale) : host_beta;
        const bool a_is_plain = g.transa == CUBLAS_OP_N, b_is_plain = g.transb == CUBLAS_OP_N;
        const CallMatrix c = matrix_of("C", "m", "n", g.c, g.m, g.n, true, g.batch);
        if (alpha != 0 && g.k > 0) {
            call.reads(matrix_of("A", "m", "k", g.a, g.m, g.k, a_is_plain, g.batch));
            call.reads(matrix_of("B", "k", "n", g.b, g.k, g.n, b_is_plain, g.batch));
        }
        if (beta != 0) {
            call.reads(c);
        }
        call.writes(c);
        call.takes(2.0 * static_cast<double>(g.m * g.n) * static_cast<double>(g.k * g.batch));
        for (long i = 0; i < g.batch && call.may_compute(); i++) {
            void* const out = const_cast<char*>(element_at(g.c, i));
            const Element type = *element_of(g.c.type);
            multiply({.m = g.m,
                      .n = g.n,
                      .k = g.k,
                      .a = {element_at(g.a, i), *element_of(g.a.type), !a_is_plain, g.a.ld},
                      .b = {element_at(g.b, i), *element_of(g.b.type), !b_is_plain, g.b.ld},
                      .alpha = alpha,
                      .beta = beta,
                      .c = {out, type, false, g.c.ld},
                      .d = out,
                      .d_element = type,
                      .ldd = g.c.ld,
                      .inputs = inputs});
        }
    };
    return issue({g.name, handle->stream, g.site}, body) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

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

// ---- the handle ---------------------------------------------------------------------------------------------------------

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    if (handle == nullptr) {
        return refuse("cublasCreate", CUBLAS_STATUS_INVALID_VALUE, "the handle's address is null (cublasCreate())");
    }
    *handle = new cublasContext;
    simt::note_object(*handle, "a handle of cuBLAS", __builtin_return_address(0));
    return CUBLAS_STATUS_SUCCESS;
}

// Section "cublasCreate()": cublasDestroy() waits for the device.
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (!is_handle(handle)) {
        return no_handle("cublasDestroy");
    }
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
    return "CUBLAS_STATUS_UNKNOWN";
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
            return "the device's architecture lacks what the function needs";
        case CUBLAS_STATUS_MAPPING_ERROR:
            return "an access to GPU memory space failed";
        case CUBLAS_STATUS_EXECUTION_FAILED:
            return "the GPU program failed to execute";
        case CUBLAS_STATUS_INTERNAL_ERROR:
            return "an internal operation failed";
        case CUBLAS_STATUS_NOT_SUPPORTED:
            return "the functionality requested is not supported";
        case CUBLAS_STATUS_LICENSE_ERROR:
            return "the functionality requested requires some license";
    }
    return "unknown status";
}

// ---- gemm ---------------------------------------------------------------------------------------------------------------

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const float* alpha, const float* A, int lda, const float* B, int ldb,
                              const float* beta, float* C, int ldc) {
    return simt::run(handle, {.name = "cublasSgemm",
                              .section = "cublas<t>gemm()",
                              .site = __builtin_return_address(0),
                              .transa = transa,
                              .transb = transb,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = alpha,
                              .a = {A, CUDA_R_32F, lda},
                              .b = {B, CUDA_R_32F, ldb},
                              .beta = beta,
                              .c = {C, CUDA_R_32F, ldc}});
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const float* alpha, const float* A, int lda,
                                         long long int strideA, const float* B, int ldb, long long int strideB,
                                         const float* beta, float* C, int ldc, long long int strideC, int batchCount) {
    return simt::run(handle, {.name = "cublasSgemmStridedBatched",
                              .section = "cublas<t>gemmStridedBatched()",
                              .site = __builtin_return_address(0),
                              .transa = transa,
                              .transb = transb,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = alpha,
                              .a = {A, CUDA_R_32F, lda, strideA},
                              .b = {B, CUDA_R_32F, ldb, strideB},
                              .beta = beta,
                              .c = {C, CUDA_R_32F, ldc, strideC},
                              .batch = batchCount});
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
    static_cast<void>(algo);  // since sm_80 it is a hint that cuBLAS does not take (section "cublasGemmAlgo_t")
    return simt::run(handle, {.name = "cublasGemmEx",
                              .section = "cublasGemmEx()",
                              .site = __builtin_return_address(0),
                              .transa = transa,
                              .transb = transb,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = alpha,
                              .a = {A, Atype, lda},
                              .b = {B, Btype, ldb},
                              .beta = beta,
                              .c = {C, Ctype, ldc},
                              .compute = computeType});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long int strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t algo) {
    static_cast<void>(algo);
    return simt::run(handle, {.name = "cublasGemmStridedBatchedEx",
                              .section = "cublasGemmStridedBatchedEx()",
                              .site = __builtin_return_address(0),
                              .transa = transa,
                              .transb = transb,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = alpha,
                              .a = {A, Atype, lda, strideA},
                              .b = {B, Btype, ldb, strideB},
                              .beta = beta,
                              .c = {C, Ctype, ldc, strideC},
                              .batch = batchCount,
                              .compute = computeType});
}

}  // extern "C"
