// SPDX-License-Identifier: MIT
//
// probs[n, v] = exp(logits[n, v]) / sum over v < V of exp(logits[n, v]), for v < V
//
// Given: it is causal_softmax with rows of equal length.
//
// One thread per row makes lesson 02's three passes over the V tokens. The columns from V to Vp only pad the row.
// A block is one warp, as in layernorm.
// >>> given
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kBlock = 32;  // threads in a block

__global__ void softmax_forward_kernel(float* probs,         // (N, Vp)
                                       const float* logits,  // (N, Vp)
                                       int N, int V, int Vp) {
    const long n = blockIdx.x * blockDim.x + threadIdx.x;  // long, as N * Vp may pass 2^31
    if (n >= N) {
        return;
    }
    const float* logits_n = logits + n * Vp;  // logits[n, :]
    float* probs_n = probs + n * Vp;          // probs[n, :]

    float max = logits_n[0];
    for (int v = 1; v < V; v++) { max = fmaxf(max, logits_n[v]); }

    float sum = 0.0f;
    for (int v = 0; v < V; v++) {
        const float e = expf(logits_n[v] - max);
        probs_n[v] = e;
        sum += e;
    }
    for (int v = 0; v < V; v++) { probs_n[v] /= sum; }
}

}  // namespace

void softmax(float* probs,         // (N, Vp)
             const float* logits,  // (N, Vp)
             int N, int V, int Vp, Context& ctx) {
    softmax_forward_kernel<<<ceil_div(N, kBlock), kBlock, 0, ctx.stream>>>(probs, logits, N, V, Vp);
    check(cudaGetLastError());
}
