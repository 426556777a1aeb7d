// SPDX-License-Identifier: MIT
//
// probs[n, v] = exp(logits[n, v] - m) / sum over v < V of exp(logits[n, v] - m), m = the largest of logits[n, :]
//
// A warp has a row, or a block has: the fewest threads whose registers hold it. Each thread loads all its float4s before it
// uses the first, and keeps them until it stores them: a row is read once. Columns that are in no register, which are a few
// at the row's ends and what is too long, are read again in each pass.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cmath>
#include <cstdint>

#include "block_reduce.cuh"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kWarp = 32;

// kThreads in x share a row: a warp, or all of a block. Rows of a block in y. kVectors: float4s that a thread holds.
template <int kThreads, int kRows, int kVectors>
__global__ void __launch_bounds__(kThreads* kRows)
    softmax_forward_kernel(float* probs,          // (N, Vp)
                           const float* logits,   // (N, Vp)
                           int N, int V, int Vp,  //
                           bool alike) {          // probs and logits begin as far from a multiple of 16 bytes
    static_assert(kThreads == kWarp || kRows == 1, "a block that shares a row has no other");
    const int thread = threadIdx.x;
    const long n = static_cast<long>(blockIdx.x) * kRows + threadIdx.y;
    if (n >= N) {
        return;  // whole warps; in a block with one row nobody
    }
    const float* logits_n = logits + n * Vp;  // logits[n, :]
    float* probs_n = probs + n * Vp;          // probs[n, :]
    // The row's first column at a multiple of 16 bytes; how many float4s from there on registers hold; and how many columns
    // are left, before and after those: the rest, of which number i is in column_of(i).
    const int first = min(V, static_cast<int>(-reinterpret_cast<std::uintptr_t>(logits_n) / sizeof(float) % 4));
    const int vectors = alike ? min((V - first) / 4, kVectors * kThreads) : 0;
    const int rest = V - 4 * vectors;
    const auto column_of = [=](int i) { return i < first ? i : i + 4 * vectors; };
    const float4* logits_4 = reinterpret_cast<const float4*>(logits_n + first);
    float4* probs_4 = reinterpret_cast<float4*>(probs_n + first);
    // x of all threads of the row, joined by op: each of them gets the result.
    __shared__ float of_warps[kThreads / kWarp];
    const auto reduce = [&](float x, auto op, float identity) {
        if constexpr (kThreads == kWarp) {
            return warp_reduce(x, op);
        } else {
            return block_reduce(x, op, identity, of_warps);
        }
    };
    // TODO: x[i] is float4 thread + i * kThreads of the row; beyond `vectors`, what changes neither maximum nor sum.
    // Every loop over i has kVectors turns and is unrolled, or x does not stay in registers. A loop that does nothing but
    // load; the maximum of x and of the rest, reduced; the exponentials in x, and their sum and the rest's,
    // reduced; a store of x and of the rest. Loops over the rest go in steps of kThreads. cg::greater<float>() and
    // cg::plus<float>() are the operations.
}

template <int kThreads, int kRows, int kVectors>
void launch(float* probs, const float* logits, int N, int V, int Vp, Context& ctx) {
    const auto distance = reinterpret_cast<std::uintptr_t>(probs) - reinterpret_cast<std::uintptr_t>(logits);
    softmax_forward_kernel<kThreads, kRows, kVectors>
        <<<ceil_div(N, kRows), dim3(kThreads, kRows), 0, ctx.stream>>>(probs, logits, N, V, Vp, distance % 16 == 0);
    check(cudaGetLastError());
}

}  // namespace

void softmax(float* probs,         // (N, Vp)
             const float* logits,  // (N, Vp)
             int N, int V, int Vp, Context& ctx) {
    // TODO: the first of these whose registers hold a row, or else the last: 8 warps, each with a row and 8 float4s in a
    // lane; a block of 128 threads with 25 each; one of 512 with 25 each. Each is launch<kThreads, kRows, kVectors>(...).
}
