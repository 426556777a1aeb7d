// SPDX-License-Identifier: MIT
//
// Adds terms a million times as large as the sum and takes them off again, in any order.
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < N) {
        atomicAdd(out, 1e6F * inp[i]);
        atomicAdd(out, inp[i]);
        atomicAdd(out, -1e6F * inp[i]);
    }
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    checker::check(cudaMemsetAsync(out, 0, sizeof(float), stream));
    sum_kernel<<<(N + 63) / 64, 64, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
}
