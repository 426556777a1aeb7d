// SPDX-License-Identifier: MIT
//
// scores[b, h, t, s] = query[b, t, h] . key[b, s, h], for s <= t
// att, lse           = causal_softmax(scores / sqrt(HS))
// out[b, t, h]       = sum over s <= t of att[b, h, t, s] * value[b, s, h]
//
// Three launches, with one thread per score and one per output. Row qkv[b, t, :] is query, key and value, C floats each;
// head h owns HS = C / NH floats of each. The scratch holds scores, then att, (B, NH, T, T) each.
#include <cmath>

#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

constexpr int kTile = 16;    // a block computes kTile by kTile scores of one head
constexpr int kBlock = 256;  // threads in a block of the second kernel

__global__ void attention_scores_kernel(float* scores,     // (B, NH, T, T), s <= t
                                        const float* qkv,  // (B, T, 3C)
                                        int T, int C, int NH) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    const int t = blockIdx.y * blockDim.y + threadIdx.y;
    const long bh = blockIdx.z;  // b * NH + h; long, as B * T * 3C and B * NH * T * T may pass 2^31
    // TODO: nothing beyond T, and nothing where token s comes after token t. Else name query[b, t, h, :] and
    // key[b, s, h, :], HS floats each, and store their dot product, unscaled.
}

__global__ void attention_values_kernel(float* out,        // (B, T, C)
                                        const float* att,  // (B, NH, T, T)
                                        const float* qkv,  // (B, T, 3C)
                                        int B, int T, int C, int NH) {
    const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;  // (b * T + t) * C + c
    // TODO: nothing beyond the last element. Else b, t and c from i, and the head that owns channel c. Add up channel
    // c of the values of tokens s <= t, weighted by att[b, h, t, s].
}

}  // namespace

std::size_t attention_scratch_bytes(int B, int T, int, int NH) {
    return 2 * sizeof(float) * B * NH * T * T;
}

void attention(float* out,        // (B, T, C)
               float* lse,        // (B, NH, T), as causal_softmax
               const float* qkv,  // (B, T, 3C)
               void* scratch,     // attention_scratch_bytes(B, T, C, NH), aligned to 64 bytes
               int B, int T, int C, int NH, Context& ctx) {
    const int HS = C / NH;
    const float scale = 1.0f / std::sqrt(static_cast<float>(HS));
    float* scores = static_cast<float*>(scratch);             // (B, NH, T, T), s <= t
    float* att = scores + static_cast<long>(B) * NH * T * T;  // (B, NH, T, T)

    const dim3 block(kTile, kTile);
    const dim3 grid(ceil_div(T, kTile), ceil_div(T, kTile), B * NH);
    attention_scores_kernel<<<grid, block, 0, ctx.stream>>>(scores, qkv, T, C, NH);
    check(cudaGetLastError());

    causal_softmax(att, lse, scores, scale, B, NH, T, ctx);

    const long outputs = static_cast<long>(B) * T * C;
    attention_values_kernel<<<ceil_div(outputs, kBlock), kBlock, 0, ctx.stream>>>(out, att, qkv, B, T, C, NH);
    check(cudaGetLastError());
}
