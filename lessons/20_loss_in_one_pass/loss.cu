// SPDX-License-Identifier: MIT
//
// lse[n] = log of the sum over v < V of exp(logits[n, v])
// losses[n] = lse[n] - logits[n, targets[n]]
//
// A block has a row, and reads it once. Each thread keeps the maximum and the sum of exp(x - maximum) of the logits that it has
// seen; at the end the block joins these pairs. No logit is kept: a multiprocessor has registers for as many threads as it can
// hold.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "14_block_reduction/block_reduce.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

namespace cg = cooperative_groups;

constexpr int kWarp = 32;
constexpr int kBatch = 4;  // float4s that a thread loads before it uses the first

// The largest of some x, and the sum of exp(x - max) of them. Of no x it is -FLT_MAX and 0: minus infinity less minus
// infinity would be NaN.
struct Running {
    float max = -FLT_MAX;
    float sum = 0.0f;

    __device__ void add(float x) {
        // TODO: the new maximum, and the sum for that maximum, as in lesson 15.
    }

    // As add(float), with one rescaling of the sum for all of x.
    template <int kCount>
    __device__ void add(const float4 (&x)[kCount]) {
        // TODO: the largest of max and all of x; the sum, rescaled once; an exponential of each element. Loops over x are
        // unrolled, or x does not stay in registers.
    }
};

template <int kThreads>
__global__ void __launch_bounds__(kThreads) loss_forward_kernel(float* losses,        // (N)
                                                                float* lse,           // (N)
                                                                const float* logits,  // (N, Vp)
                                                                const int* targets,   // (N)
                                                                int V, int Vp) {
    const long n = blockIdx.x;
    const int thread = threadIdx.x;
    const float* logits_n = logits + n * Vp;  // logits[n, :]
    // The row's first column at a multiple of 16 bytes, how many float4s there are from it on, and how many columns are left,
    // before and after those: the rest, of which number i is in column_of(i).
    const int first = min(V, static_cast<int>(-reinterpret_cast<std::uintptr_t>(logits_n) / sizeof(float) % 4));
    const int vectors = (V - first) / 4;
    const int rest = V - 4 * vectors;
    const auto column_of = [=](int i) { return i < first ? i : i + 4 * vectors; };
    const float4* logits_4 = reinterpret_cast<const float4*>(logits_n + first);
    const float of_target = thread == 0 ? logits_n[targets[n]] : 0.0f;  // on its way while the row is read
    __shared__ float of_warps[kThreads / kWarp];
    Running seen;
    // TODO: `seen` sees each of this thread's columns once: first kBatch float4s at a time, thread + i * kThreads from a
    // multiple of kBatch * kThreads on, for as long as all threads of the block have as many; then float4s one by one; then
    // the rest. Then the row's maximum and its sum, by two block_reduce. Thread 0 stores lse[n] and losses[n].
}

template <int kThreads>
void launch(float* losses, float* lse, const float* logits, const int* targets, int N, int V, int Vp, Context& ctx) {
    loss_forward_kernel<kThreads><<<N, kThreads, 0, ctx.stream>>>(losses, lse, logits, targets, V, Vp);
    check(cudaGetLastError());
}

}  // namespace

void loss(float* losses,        // (N)
          float* lse,           // (N)
          const float* logits,  // (N, Vp)
          const int* targets,   // (N), each in [0, V)
          int N, int V, int Vp, Context& ctx) {
    // A block of few threads for rows of which a larger one would leave most threads without a batch.
    if (V <= 128 * kBatch * 4) {
        launch<128>(losses, lse, logits, targets, N, V, Vp, ctx);
    } else {
        launch<512>(losses, lse, logits, targets, N, V, Vp, ctx);
    }
}
