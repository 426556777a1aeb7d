// SPDX-License-Identifier: MIT
//
// cuBLAS refuses the call, whose leading dimension is too small; nobody looks at the status, and a kernel reads out.
#include "checker/cublas_check.h"
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void add_kernel(float* out, float addend) {
    *out += addend;
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    const checker::CublasHandle cublas;
    checker::check(cublasSetStream(cublas, stream));
    const float one = 1.0f, zero = 0.0f;
    static_cast<void>(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, N, &one, inp, 1, inp, 1, &zero, out, 1));
    add_kernel<<<1, 1, 0, stream>>>(out, 1.0f);
    checker::check(cudaGetLastError());
}
