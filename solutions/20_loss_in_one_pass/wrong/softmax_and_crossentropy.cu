// SPDX-License-Identifier: MIT
//
// The ops of the steps before lesson 20: probabilities of each row, and of these the target's logarithm.
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

__global__ void lse_kernel(float* lse, const float* losses, const float* logits, const int* targets, int N, int Vp) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < N) {
        lse[n] = losses[n] + logits[static_cast<long>(n) * Vp + targets[n]];
    }
}

}  // namespace

void loss(float* losses,        // (N)
          float* lse,           // (N)
          const float* logits,  // (N, Vp)
          const int* targets,   // (N), each in [0, V)
          int N, int V, int Vp, Context& ctx) {
    float* probs = static_cast<float*>(ctx.workspace(static_cast<std::size_t>(N) * Vp * sizeof(float)));
    softmax(probs, logits, N, V, Vp, ctx);
    crossentropy(losses, probs, targets, N, Vp, ctx);
    lse_kernel<<<ceil_div(N, 256), 256, 0, ctx.stream>>>(lse, losses, logits, targets, N, Vp);
    check(cudaGetLastError());
}
