// SPDX-License-Identifier: MIT
//
// Every thread writes the result, and the last one's stays.
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    *out = inp[i % N];
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    sum_kernel<<<(N + 63) / 64, 64, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
}
