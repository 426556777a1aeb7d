// SPDX-License-Identifier: MIT
//
// Only the lower half of the warp comes to the shuffles, which name all of it; the upper half goes round them.
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    float total = 0.0F;
    for (int i = static_cast<int>(threadIdx.x); i < N; i += 32) { total += inp[i]; }
    if (threadIdx.x < 16) {
        for (int lanes = 16; lanes > 0; lanes /= 2) { total += __shfl_down_sync(0xFFFFFFFFU, total, lanes); }
    }
    if (threadIdx.x == 0) {
        *out = total;
    }
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    sum_kernel<<<1, 32, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
}
