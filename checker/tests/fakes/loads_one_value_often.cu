// SPDX-License-Identifier: MIT
//
// Right, but one warp loads inp[0] twenty times, beside all of inp once, which moves more.
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N, int none) {
    float total = 0.0F;
    for (int i = static_cast<int>(threadIdx.x); i < N; i += 32) { total += inp[i]; }
    float zero = 0.0F;
    for (int k = 0; k < 20; k++) { zero += 0.0F * inp[none * k]; }
    total += zero;
    for (int lanes = 16; lanes > 0; lanes /= 2) { total += __shfl_down_sync(0xFFFFFFFFU, total, lanes); }
    if (threadIdx.x == 0) {
        *out = total;
    }
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    sum_kernel<<<1, 32, 0, stream>>>(out, inp, N, 0);
    checker::check(cudaGetLastError());
}
