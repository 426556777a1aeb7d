// SPDX-License-Identifier: MIT
// verdict: use_after_free cublas_lt_layout_used_after_its_end.cu:13
// The layout is kept for later calls, and destroyed after the first.
#include <cublasLt.h>

#include <cstdint>

int main() {
    cublasLtMatrixLayout_t layout = nullptr;
    cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 8, 8, 8);
    cublasLtMatrixLayoutDestroy(layout);
    const std::int64_t ld = 16;
    cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &ld, sizeof ld);
}
