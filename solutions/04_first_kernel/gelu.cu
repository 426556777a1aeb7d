// SPDX-License-Identifier: MIT
//
// out[i] = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) with x = inp[i]
//
// A grid-stride loop: thread i of S does elements i, i + S, i + 2S, ... Any grid is right for any N, so the number of
// blocks is free: here one for each kItems * kBlock elements. __restrict__ lets a thread load its next elements before it
// has stored the first.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kBlock = 256;  // threads in a block
constexpr int kItems = 4;    // elements of a thread, at most
constexpr float kSqrt2OverPi = 0.7978845608028654f;

__global__ void gelu_forward_kernel(float* __restrict__ out,        // (N)
                                    const float* __restrict__ inp,  // (N)
                                    int N) {
    // >>> solution
    //~ // TODO: the grid-stride loop. i starts as in residual and goes on by the number of threads in the grid, gridDim.x
    //~ // blocks of blockDim.x. Both are long: before it leaves the loop, i passes N by up to a stride. Inside, lesson
    //~ // 01's formula; tanhf takes floats.
    const long stride = static_cast<long>(gridDim.x) * blockDim.x;
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        const float x = inp[i];
        const float cube = 0.044715f * x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(kSqrt2OverPi * (x + cube)));
    }
    // <<< solution
}

}  // namespace

void gelu(float* out,        // (N)
          const float* inp,  // (N)
          int N, Context& ctx) {
    // >>> solution
    //~ // TODO: launch the kernel with a quarter of the threads that residual would take, kItems elements each, and check.
    gelu_forward_kernel<<<ceil_div(N, kBlock * kItems), kBlock, 0, ctx.stream>>>(out, inp, N);
    check(cudaGetLastError());
    // <<< solution
}
