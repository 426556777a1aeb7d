// SPDX-License-Identifier: MIT
#include <cublas_v2.h>

#include "checker/simt/tests/objects/product.h"

namespace {

int multiplied(float* out, const float* inp, const float* weight, int n, int c, int oc, cublasMath_t math) {
    cublasHandle_t cublas = nullptr;
    if (cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS) {
        return 1;
    }
    if (math != CUBLAS_DEFAULT_MATH) {
        cublasSetMathMode(cublas, math);
    }
    const float one = 1, zero = 0;
    const cublasStatus_t status =
        cublasSgemm(cublas, CUBLAS_OP_T, CUBLAS_OP_N, oc, n, c, &one, weight, c, inp, c, &zero, out, oc);
    return cublasDestroy(cublas) == CUBLAS_STATUS_SUCCESS ? static_cast<int>(status) : 1;
}

}  // namespace

int product(float* out, const float* inp, const float* weight, int n, int c, int oc) {
    return multiplied(out, inp, weight, n, c, oc, CUBLAS_DEFAULT_MATH);
}

int product_tf32(float* out, const float* inp, const float* weight, int n, int c, int oc) {
    return multiplied(out, inp, weight, n, c, oc, CUBLAS_TF32_TENSOR_OP_MATH);
}
