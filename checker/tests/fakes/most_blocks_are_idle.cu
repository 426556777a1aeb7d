// SPDX-License-Identifier: MIT
//
// Right: 1,000 of 2,000 blocks load, one of these adds and stores the sum, and the others return at once.
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    if (blockIdx.x >= 1000) {
        return;
    }
    float total = inp[0];
    for (int i = 1; i < N && blockIdx.x == 0; i++) { total += inp[i]; }
    if (blockIdx.x == 0) {
        *out = total;
    }
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    sum_kernel<<<2000, 1, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
}
