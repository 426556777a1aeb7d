// SPDX-License-Identifier: MIT
//
// A kernel with an endless loop.
#include <cstdio>

#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out) {
    for (;;) {}
    *out = 0.0F;
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    static_cast<void>(inp);
    static_cast<void>(N);
    std::fputs("waited for\n", stderr);
    sum_kernel<<<1, 1, 0, stream>>>(out);
    checker::check(cudaGetLastError());
}
