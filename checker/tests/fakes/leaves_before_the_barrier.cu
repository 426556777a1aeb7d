// SPDX-License-Identifier: MIT
//
// Threads without an element of the last tile end at once, and thread 0 adds what the tile before left in their places.
#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

constexpr int kTile = 64;

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    __shared__ float tile[kTile];
    const int t = static_cast<int>(threadIdx.x);
    float total = 0.0F;
    for (int begin = 0; begin < N; begin += kTile) {
        if (begin + t >= N) {
            return;
        }
        tile[t] = inp[begin + t];
        __syncthreads();
        for (int i = 0; i < kTile && t == 0; i++) { total += tile[i]; }
        __syncthreads();
    }
    if (t == 0) {
        *out = total;
    }
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    sum_kernel<<<1, kTile, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
}
