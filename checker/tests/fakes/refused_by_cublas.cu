// SPDX-License-Identifier: MIT
//
// The sum is a product with a column of ones, whose leading dimension is too small: cuBLAS refuses the call.
#include "checker/cublas_check.h"
#include "checker/tests/fakes/fake_sum.h"

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    const checker::CublasHandle cublas;
    checker::check(cublasSetStream(cublas, stream));
    const float one = 1.0f, zero = 0.0f;
    checker::check(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, N, &one, inp, 1, inp, 1, &zero, out, 1));
}
