// SPDX-License-Identifier: MIT
//
// Right, but every lane of a warp sums all of inp, in a function of the C++ library that is called by its address: it has
// no line of this file.
#include <numeric>

#include "checker/cuda_check.h"
#include "checker/tests/fakes/fake_sum.h"

static __global__ void sum_kernel(float* out, const float* inp, int N) {
    float (*volatile sum_of)(const float*, const float*, float) = &std::accumulate<const float*, float>;
    const float total = sum_of(inp, inp + N, 0.0F);
    if (threadIdx.x == 0) {
        *out = total;
    }
}

void sum(float* out, const float* inp, int N, CUstream_st* stream) {
    sum_kernel<<<1, 32, 0, stream>>>(out, inp, N);
    checker::check(cudaGetLastError());
}
