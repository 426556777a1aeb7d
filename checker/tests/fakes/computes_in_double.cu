// SPDX-License-Identifier: MIT
//
// Right: one thread adds, and adds in double once because of a constant.
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    float total = 0.0F;
    for (int i = 0; i < N; i++) { total += inp[i]; }
    *out = static_cast<float>(total + 1e-30);
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    sum_kernel<<<1, 1, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
}
