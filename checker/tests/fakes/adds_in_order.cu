// SPDX-License-Identifier: MIT
//
// Right: one thread adds, so that every order of threads gives the same bits. SOL_FAKE_WAITS: returns when it has
// ended. SOL_FAKE_COPIES: sets out to 0 and copies an element to it first.
#include <cstdlib>

#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    float total = 0.0F;
    for (int i = 0; i < N; i++) { total += inp[i]; }
    *out = total;
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    if (std::getenv("SOL_FAKE_COPIES") != nullptr) {
        checker::check(cudaMemsetAsync(out, 0, sizeof(float), stream));
        checker::check(cudaMemcpyAsync(out, inp, sizeof(float), cudaMemcpyDeviceToDevice, stream));
    }
    sum_kernel<<<1, 1, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
    if (std::getenv("SOL_FAKE_WAITS") != nullptr) {
        checker::check(cudaStreamSynchronize(stream));
    }
}
