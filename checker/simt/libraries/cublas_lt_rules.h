// SPDX-License-Identifier: MIT
//
// What NVIDIA's reference ("cuBLAS Library User Guide") says of a matmul of cuBLASLt: which are refused, with which
// status, and what an algorithm needs. Each rule names its section; LIBRARIES.md lists them, and says which are not
// verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "checker/simt/libraries/cublas_lt_descriptors.h"
#include "checker/simt/libraries/product.h"

namespace simt {

struct Refusal {
    cublasStatus_t status;
    std::string why;  // with the section
};
cublasStatus_t refuse(const char* function, const Refusal& refusal);

// D = epilogue(alpha op(A) op(B) + beta C): op(A) is m x k, op(B) k x n, C and D are m x n, each `batch` times.
struct LtMatmul {
    MatmulDesc desc;
    MatrixLayout a, b, c, d;

    long m() const { return static_cast<long>(d.rows); }
    long n() const { return static_cast<long>(d.columns); }
    long k() const { return static_cast<long>(desc.op_a == CUBLAS_OP_N ? a.columns : a.rows); }
    long batch() const { return d.batch; }
};

// What is done to alpha op(A) op(B) + beta C before it is rounded to D's type, in this order.
struct Epilogue {
    bool adds_bias, writes_aux, gelu, relu;
    bool gelu_gradient;   // times the derivative of GELU at AUX
    bool bias_gradient;   // the sums of D's rows go to the bias pointer
    bool sums_a, sums_b;  // the sums over k of op(A)'s rows, or of op(B)'s columns, go there

    bool has_aux() const { return writes_aux || gelu_gradient; }
    bool writes_bias() const { return bias_gradient || sums_a || sums_b; }
    bool has_bias() const { return adds_bias || writes_bias(); }
};
Epilogue epilogue_of(const MatmulDesc& desc);

// Whether one value lies beside the next one in its column.
inline bool is_column_major(const MatrixLayout& layout) {
    return layout.order == CUBLASLT_ORDER_COL;
}
Element element_of(const MatrixLayout& layout);  // of a matmul that is not refused

// What the descriptors say against each other, against the reference, or beyond what the CPU device has; nothing: it can
// be computed.
std::optional<Refusal> refusal_of(const LtMatmul& matmul);

// What cublasLtMatmulAlgo_t holds here: for which matmul it was chosen, and what it needs. It splits k, and counts in the
// workspace which parts of a tile are done, where the preference allows that: then a workspace is needed.
struct Algorithm {
    std::uint32_t mark = 0;
    std::uint32_t batch = 0;
    std::uint32_t m = 0, n = 0, k = 0;
    std::uint32_t rest = 0;  // of types, orders, operations and the epilogue: a hash
    std::uint64_t workspace_bytes = 0;
    // What addresses must be multiples of.
    std::uint8_t align_a = 1, align_b = 1, align_c = 1, align_d = 1, align_bias = 1, align_aux = 1;
    std::uint8_t parts = 1;  // of k

    std::uint64_t tiles() const;
    bool was_given() const { return mark != 0; }  // to the call
};
static_assert(fits_in<Algorithm, cublasLtMatmulAlgo_t>);

inline constexpr std::size_t kWorkspaceAlignment = 256;  // "cublasLtMatmul()"

// Of a matmul that is not refused; nothing: the preference excludes it.
std::optional<Algorithm> choose(const LtMatmul& matmul, const MatmulPreference& preference);
// The bytes that a thread may load at once of a matrix that begins there.
std::uint8_t widest_access(const MatrixLayout& layout, const void* begin);
// Why an algorithm is none for this matmul (section "cublasLtMatmulAlgoCheck()").
std::optional<Refusal> refusal_of(const Algorithm& algorithm, const LtMatmul& matmul);

}  // namespace simt
