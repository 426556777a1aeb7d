// SPDX-License-Identifier: MIT
//
// cuBLASLt's objects with their owners: each is made by its constructor and destroyed with it, and what a call refuses is an
// exception (checker/cublas_check.h).
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <source_location>
#include <utility>

#include "checker/cublas_check.h"

namespace checker {

// cuBLASLt's state. Making one takes memory and milliseconds, so a Context keeps it.
class CublasLtHandle {
  public:
    CublasLtHandle() { check(cublasLtCreate(&handle_)); }
    ~CublasLtHandle() { static_cast<void>(cublasLtDestroy(handle_)); }
    CublasLtHandle(const CublasLtHandle&) = delete;
    CublasLtHandle& operator=(const CublasLtHandle&) = delete;

    operator cublasLtHandle_t() const { return handle_; }

  private:
    cublasLtHandle_t handle_ = nullptr;
};

// A descriptor with attributes. Every attribute has a type, which its comment in cublasLt.h names; a value of another size
// is refused.
template <class Opaque, class Attribute, cublasStatus_t (*set_attribute)(Opaque*, Attribute, const void*, std::size_t),
          cublasStatus_t (*destroy)(Opaque*)>
class LtDescriptor {
  public:
    LtDescriptor() = default;
    LtDescriptor(LtDescriptor&& other) noexcept : made_(std::exchange(other.made_, nullptr)) {}
    LtDescriptor& operator=(LtDescriptor&& other) noexcept {
        std::swap(made_, other.made_);
        return *this;
    }
    ~LtDescriptor() {
        if (made_ != nullptr) {
            static_cast<void>(destroy(made_));
        }
    }

    template <class Value>
    void set(Attribute attribute, const Value& value, std::source_location where = std::source_location::current()) {
        check(set_attribute(made_, attribute, &value, sizeof value), where);
    }
    operator Opaque*() const { return made_; }

  protected:
    void keep(Opaque* made) { made_ = made; }

  private:
    Opaque* made_ = nullptr;
};

// D = epilogue(alpha op(A) op(B) + beta C): the precision, the two op() and the epilogue. Without arguments: none yet.
class MatmulDesc : public LtDescriptor<cublasLtMatmulDescOpaque_t, cublasLtMatmulDescAttributes_t,
                                       cublasLtMatmulDescSetAttribute, cublasLtMatmulDescDestroy> {
  public:
    MatmulDesc() = default;
    MatmulDesc(cublasComputeType_t compute, cudaDataType_t scale) {
        cublasLtMatmulDesc_t made = nullptr;
        check(cublasLtMatmulDescCreate(&made, compute, scale));
        keep(made);
    }
};

// How one of the four matrices lies in memory: column by column, the columns ld elements apart. Without arguments: none yet.
class MatrixLayout : public LtDescriptor<cublasLtMatrixLayoutOpaque_t, cublasLtMatrixLayoutAttribute_t,
                                         cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayoutDestroy> {
  public:
    MatrixLayout() = default;
    MatrixLayout(cudaDataType_t type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
        cublasLtMatrixLayout_t made = nullptr;
        check(cublasLtMatrixLayoutCreate(&made, type, rows, columns, ld));
        keep(made);
    }
};

// What an algorithm may use: at most `workspace_bytes` of workspace. What it may rely on: the addresses of all four matrices
// are multiples of `alignment` bytes.
class MatmulPreference : public LtDescriptor<cublasLtMatmulPreferenceOpaque_t, cublasLtMatmulPreferenceAttributes_t,
                                             cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceDestroy> {
  public:
    MatmulPreference(std::uint64_t workspace_bytes, std::uint32_t alignment) {
        cublasLtMatmulPreference_t made = nullptr;
        check(cublasLtMatmulPreferenceCreate(&made));
        keep(made);
        set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
        for (const auto of : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
            set(of, alignment);
        }
    }
};

}  // namespace checker
