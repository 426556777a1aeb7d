// SPDX-License-Identifier: MIT
//
// losses[n] = -log(probs[n, targets[n]])
//
// Given: one thread per row.
// It reads one target and one probability.
// >>> given
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kBlock = 256;  // threads in a block

__global__ void crossentropy_forward_kernel(float* losses,       // (N)
                                            const float* probs,  // (N, Vp)
                                            const int* targets,  // (N), each in [0, V)
                                            int N, int Vp) {
    const long n = blockIdx.x * blockDim.x + threadIdx.x;  // long, as N * Vp may pass 2^31
    if (n < N) {
        losses[n] = -logf(probs[n * Vp + targets[n]]);
    }
}

}  // namespace

void crossentropy(float* losses,       // (N)
                  const float* probs,  // (N, Vp)
                  const int* targets,  // (N), each in [0, V)
                  int N, int Vp, Context& ctx) {
    crossentropy_forward_kernel<<<ceil_div(N, kBlock), kBlock, 0, ctx.stream>>>(losses, probs, targets, N, Vp);
    check(cudaGetLastError());
}
