// SPDX-License-Identifier: MIT
//
// A wrong solution: right, but one thread does everything.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

__global__ void residual_forward_kernel(float* out, const float* inp1, const float* inp2, int N) {
    for (int i = 0; i < N; i++) { out[i] = inp1[i] + inp2[i]; }
}

}  // namespace

void residual(float* out, const float* inp1, const float* inp2, int N, Context& ctx) {
    residual_forward_kernel<<<1, 1, 0, ctx.stream>>>(out, inp1, inp2, N);
    check(cudaGetLastError());
}
