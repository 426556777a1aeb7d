// SPDX-License-Identifier: MIT
//
// What cuBLASLt's descriptors hold: the attributes of their headers, as they were set. Setting one judges its size alone,
// as the library does; what the values mean together is judged where they are used (cublas_lt_rules.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "checker/simt/include/cublasLt.h"

namespace simt {

struct MatrixLayout {
    std::uint32_t type = 0;
    std::int32_t order = CUBLASLT_ORDER_COL;
    std::uint64_t rows = 0, columns = 0;
    std::int64_t ld = 0;
    std::int32_t batch = 1;
    std::uint32_t batch_mode = CUBLASLT_BATCH_MODE_STRIDED;
    std::int64_t stride = 0;
    std::int64_t plane_offset = 0;
};

// Pointers into the device's memory are only carried here.
struct MatmulDesc {
    std::int32_t compute = 0, scale = 0;
    std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
    std::int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N, op_c = CUBLAS_OP_N;
    std::int32_t fill = CUBLAS_FILL_MODE_FULL;
    std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    void* bias = nullptr;
    std::int64_t bias_stride = 0;
    void* aux = nullptr;
    std::int64_t aux_ld = 0, aux_stride = 0;
    std::int64_t alpha_stride = 0;
    std::int32_t bias_type = -1, aux_type = -1;  // -1: as D
    // What the CPU device has no use for, or must find unset.
    std::int32_t multiprocessors = 0;
    std::int32_t a_scale_mode = 0, b_scale_mode = 0, c_scale_mode = 0, d_scale_mode = 0, d_out_scale_mode = 0,
                 aux_scale_mode = 0;
    void *a_scale = nullptr, *b_scale = nullptr, *c_scale = nullptr, *d_scale = nullptr, *d_out_scale = nullptr,
         *aux_scale = nullptr;
    void *d_amax = nullptr, *aux_amax = nullptr;
    void* emulation = nullptr;
    std::int8_t fast_accumulation = 0;
};

struct MatmulPreference {
    std::uint32_t search = CUBLASLT_SEARCH_BEST_FIT;
    std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
    std::uint64_t workspace_bytes = 0;
    std::uint32_t align_a = 256, align_b = 256, align_c = 256, align_d = 256;
    float waves = 0;  // 0: any
    std::uint64_t implementations = ~std::uint64_t{0};
};

// A descriptor's place is the program's or the library's, and as large as the header says.
template <class Descriptor, class Opaque>
inline constexpr bool fits_in = sizeof(Descriptor) <= sizeof(Opaque) &&
                                alignof(Descriptor) <= alignof(Opaque) && std::is_trivially_copyable_v<Descriptor>;
static_assert(fits_in<MatrixLayout, cublasLtMatrixLayoutOpaque_t>);
static_assert(fits_in<MatmulDesc, cublasLtMatmulDescOpaque_t>);
static_assert(fits_in<MatmulPreference, cublasLtMatmulPreferenceOpaque_t>);

// Whether the program has destroyed it; that it is used all the same is a finding then.
bool is_destroyed(const void* descriptor, const void* site);

// A copy of what a descriptor holds now. It is not null.
MatrixLayout content_of(cublasLtMatrixLayout_t layout);
MatmulDesc content_of(cublasLtMatmulDesc_t desc);
MatmulPreference content_of(cublasLtMatmulPreference_t preference);

}  // namespace simt
