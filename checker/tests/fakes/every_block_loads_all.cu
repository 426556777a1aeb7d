// SPDX-License-Identifier: MIT
//
// Right, but each of four blocks loads all of inp, and one of them stores the sum.
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    float total = 0.0F;
    for (int i = static_cast<int>(threadIdx.x); i < N; i += 32) { total += inp[i]; }
    for (int lanes = 16; lanes > 0; lanes /= 2) { total += __shfl_down_sync(0xFFFFFFFFU, total, lanes); }
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        *out = total;
    }
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    sum_kernel<<<4, 32, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
}
