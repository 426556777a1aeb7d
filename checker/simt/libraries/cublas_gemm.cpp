// SPDX-License-Identifier: MIT
//
// cuBLAS's products of matrices on the CPU device: they judge their arguments as NVIDIA's reference says ("cuBLAS Library
// User Guide"; a refusal names the section), and put one checked call (library_call.h) of products (product.h) into the
// handle's stream. LIBRARIES.md says what is there, and what a card has confirmed.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "checker/simt/include/cublas_api.h"
#include "checker/simt/libraries/cublas_handle.h"
#include "checker/simt/libraries/library_call.h"
#include "checker/simt/libraries/matrix_part.h"
#include "checker/simt/libraries/product.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/capture.h"

namespace simt {
namespace {

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
    bool by_pointers = false;
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

// What is wrong with a gemm's numbers, or nothing. Sections "cublas<t>gemm()" and those of its batched forms: each of
// these is CUBLAS_STATUS_INVALID_VALUE.
std::string wrong_value(const Gemm& g) {
    if (g.m < 0 || g.n < 0 || g.k < 0) {
        return fmt::format("m = {}, n = {}, k = {}: none may be negative", g.m, g.n, g.k);
    }
    if (g.batch < 0) {
        return fmt::format("batchCount = {} is negative", g.batch);
    }
    if (!is_operation(g.transa) || !is_operation(g.transb)) {
        return fmt::format("{} and {} are the operations: each is CUBLAS_OP_N, _T or _C", static_cast<int>(g.transa),
                           static_cast<int>(g.transb));
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
    if (g.compute != CUBLAS_COMPUTE_32F) {
        return inputs_of_compute(g.compute);
    }
    constexpr int kFlags = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    switch (static_cast<int>(math) & ~kFlags) {
        case CUBLAS_TF32_TENSOR_OP_MATH:
            return Inputs::tf32;
        case CUBLAS_TENSOR_OP_MATH:
            return Inputs::fp16;
        default:
            return Inputs::as_they_are;
    }
}

// "A (m x k = 64 x 32, lda 64)", as it lies in memory.
std::string text_of(const char* name, const char* row_name, const char* column_name, long rows, long columns,
                    bool transposed, long ld) {
    if (transposed) {
        std::swap(row_name, column_name);
        std::swap(rows, columns);
    }
    return fmt::format("{} ({} x {} = {} x {}, ld{:c} {})", name, row_name, column_name, rows, columns,
                       name[0] - 'A' + 'a', ld);
}

// Section "cublas<t>gemmBatched()" and "cublasGemmBatchedEx()": what the pointers of an array must be multiples of for
// tensor cores.
std::size_t alignment_of(const Gemm& g, Inputs inputs) {
    const bool tensor_cores = inputs != Inputs::as_they_are || g.a.type == CUDA_R_16F || g.a.type == CUDA_R_16BF;
    return !g.by_pointers || !tensor_cores ? 0 : g.k % 8 == 0 ? 16 : g.k % 2 == 0 ? 4 : 0;
}

// The products of one tile of C, for matrices at a stride.
void compute(RunningCall& call, const Gemm& g, const Tile& tile, double alpha, double beta, Inputs inputs) {
    const bool ta = g.transa != CUBLAS_OP_N, tb = g.transb != CUBLAS_OP_N;
    const Part a{&g.a, ta, tile.row, tile.rows, 0, g.k, tile.first, tile.batch};
    const Part b{&g.b, tb, 0, g.k, tile.column, tile.columns, tile.first, tile.batch};
    const Part c{&g.c, false, tile.row, tile.rows, tile.column, tile.columns, tile.first, tile.batch};
    const std::size_t alignment = alignment_of(g, inputs);
    if (alpha != 0 && g.k > 0) {
        call.reads(a.matrix(text_of("A", "m", "k", g.m, g.k, ta, g.a.ld), alignment));
        call.reads(b.matrix(text_of("B", "k", "n", g.k, g.n, tb, g.b.ld), alignment));
    }
    const CallMatrix out = c.matrix(text_of("C", "m", "n", g.m, g.n, false, g.c.ld), alignment);
    beta != 0 ? call.updates(out) : call.writes(out);
    call.takes(2.0 * static_cast<double>(tile.rows * tile.columns) * static_cast<double>(g.k * tile.batch),
               multiplied_as(inputs, a.operand(0).element));
    for (long i = 0; i < tile.batch && call.may_compute(); i++) {
        multiply({.m = tile.rows,
                  .n = tile.columns,
                  .k = g.k,
                  .a = a.operand(i),
                  .b = b.operand(i),
                  .alpha = alpha,
                  .beta = beta,
                  .c = c.operand(i),
                  .d = const_cast<void*>(c.at(i)),
                  .d_element = c.element(),
                  .ldd = g.c.ld,
                  .inputs = inputs});
    }
}

// The arrays of pointers are read when the stream comes to the call.
void compute_by_pointers(RunningCall& call, const Gemm& g, double alpha, double beta, Inputs inputs) {
    const auto pointers = [&](const char* name, const GemmMatrix& x) {
        std::vector<const void*> all(static_cast<std::size_t>(g.batch));
        call.fetches({.text = fmt::format("{} ({} pointers)", name, g.batch),
                      .data = x.data,
                      .element_bytes = sizeof(void*),
                      .rows = g.batch,
                      .ld = g.batch},
                     all.data());
        return all;
    };
    const std::vector<const void*> as = pointers("Aarray", g.a), bs = pointers("Barray", g.b),
                                   cs = pointers("Carray", g.c);
    for (std::size_t i = 0; i < as.size() && call.may_compute(); i++) {
        Gemm one = g;
        one.a.data = as[i];
        one.b.data = bs[i];
        one.c.data = cs[i];
        compute(call, one, {.rows = g.m, .columns = g.n, .batch = 1}, alpha, beta, inputs);
    }
}

// Section "CUDA Graphs Support": a captured product takes its workspace by memory nodes, unless the program has given one.
void note_captured_workspace(cublasHandle_t handle, const Gemm& g) {
    const ApiLock turn;
    if (!handle->has_workspace && Captures::instance().is_capturing(handle->stream)) {
        note(g.site,
             fmt::format("{} is captured without a workspace: cuBLAS may take one by nodes of the graph, at each "
                         "launch; cublasSetWorkspace after cublasSetStream gives it one",
                         g.name));
    }
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
    note_captured_workspace(handle, g);
    const Element scale = *element_of(g.a.type) == Element::fp64 ? Element::fp64 : Element::fp32;
    const Scalar alpha("alpha", g.alpha, scale, handle->pointers), beta("beta", g.beta, scale, handle->pointers);
    const Inputs inputs = inputs_of(g, handle->math);
    return issue_into(handle, g.name, g.site, [=](RunningCall& call) {
        const double alpha_now = alpha.value(call), beta_now = beta.value(call);
        if (g.by_pointers) {
            compute_by_pointers(call, g, alpha_now, beta_now, inputs);
            return;
        }
        for (const Tile& tile : tiles_of(g.name, g.m, g.n, g.batch)) {
            compute(call, g, tile, alpha_now, beta_now, inputs);
        }
    });
}

}  // namespace
}  // namespace simt

extern "C" {

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

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const double* alpha, const double* A, int lda, const double* B, int ldb,
                              const double* beta, double* C, int ldc) {
    return simt::run(handle, {.name = "cublasDgemm",
                              .section = "cublas<t>gemm()",
                              .site = __builtin_return_address(0),
                              .transa = transa,
                              .transb = transb,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = alpha,
                              .a = {A, CUDA_R_64F, lda},
                              .b = {B, CUDA_R_64F, ldb},
                              .beta = beta,
                              .c = {C, CUDA_R_64F, ldc},
                              .compute = CUBLAS_COMPUTE_64F});
}

cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const float* alpha, const float* const Aarray[], int lda,
                                  const float* const Barray[], int ldb, const float* beta, float* const Carray[],
                                  int ldc, int batchCount) {
    return simt::run(handle, {.name = "cublasSgemmBatched",
                              .section = "cublas<t>gemmBatched()",
                              .site = __builtin_return_address(0),
                              .transa = transa,
                              .transb = transb,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = alpha,
                              .a = {Aarray, CUDA_R_32F, lda},
                              .b = {Barray, CUDA_R_32F, ldb},
                              .beta = beta,
                              .c = {Carray, CUDA_R_32F, ldc},
                              .batch = batchCount,
                              .by_pointers = true});
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const Aarray[], cudaDataType Atype,
                                   int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
                                   void* const Carray[], cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
    static_cast<void>(algo);
    return simt::run(handle, {.name = "cublasGemmBatchedEx",
                              .section = "cublasGemmBatchedEx()",
                              .site = __builtin_return_address(0),
                              .transa = transa,
                              .transb = transb,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = alpha,
                              .a = {Aarray, Atype, lda},
                              .b = {Barray, Btype, ldb},
                              .beta = beta,
                              .c = {Carray, Ctype, ldc},
                              .batch = batchCount,
                              .by_pointers = true,
                              .compute = computeType});
}

}  // extern "C"
