// SPDX-License-Identifier: MIT
//
// Given to predict.cu: the row of each sequence that is asked for, and another stream for the ops that forward calls.
#pragma once

#include "lessons/gpt2/context.h"
#include "lessons/gpt2/launch.h"

namespace {

// out[b, v] = logits[b, *position, v]: the position is read when the kernel runs, not when it is launched.
__global__ void last_rows_kernel(float* out,           // (B, V)
                                 const float* logits,  // (B, T, Vp)
                                 const int* position,  // one, in the device's memory
                                 int B, int T, int V, int Vp) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B * V) {
        const int b = i / V, v = i % V;
        out[i] = logits[(static_cast<long>(b) * T + *position) * Vp + v];
    }
}

void last_rows(float* out, const float* logits, const int* position, int B, int T, int V, int Vp, cudaStream_t stream) {
    constexpr int kBlock = 256;
    last_rows_kernel<<<ceil_div(static_cast<long>(B) * V, kBlock), kBlock, 0, stream>>>(out, logits, position, B, T, V,
                                                                                        Vp);
    check(cudaGetLastError());
}

// Makes `stream` that of the Context until the end of the scope.
class OnStream {
  public:
    OnStream(Context& ctx, cudaStream_t stream) : ctx_(ctx), before_(ctx.stream) { ctx.stream = stream; }
    OnStream(const OnStream&) = delete;
    OnStream& operator=(const OnStream&) = delete;
    ~OnStream() { ctx_.stream = before_; }

  private:
    Context& ctx_;
    cudaStream_t before_;
};

}  // namespace
