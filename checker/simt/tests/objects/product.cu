// SPDX-License-Identifier: MIT
#include <cublas_v2.h>

#include "checker/simt/tests/objects/product.h"

int product(float* out, const float* inp, const float* weight, int n, int c, int oc) {
    cublasHandle_t cublas = nullptr;
    if (cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS) {
        return 1;
    }
    const float one = 1, zero = 0;
    const cublasStatus_t status =
        cublasSgemm(cublas, CUBLAS_OP_T, CUBLAS_OP_N, oc, n, c, &one, weight, c, inp, c, &zero, out, oc);
    return cublasDestroy(cublas) == CUBLAS_STATUS_SUCCESS ? static_cast<int>(status) : 1;
}
