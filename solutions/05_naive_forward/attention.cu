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
    // >>> solution
    //~ // TODO: nothing beyond T, and nothing where token s comes after token t. Else name query[b, t, h, :] and
    //~ // key[b, s, h, :], HS floats each, and store their dot product, unscaled.
    if (t >= T || s > t) {
        return;
    }
    const long b = bh / NH, h = bh % NH;
    const int HS = C / NH;
    const float* query_t = qkv + (b * T + t) * 3 * C + h * HS;    // query[b, t, h, :]
    const float* key_s = qkv + (b * T + s) * 3 * C + C + h * HS;  // key[b, s, h, :]
    float sum = 0.0f;
    for (int i = 0; i < HS; i++) { sum += query_t[i] * key_s[i]; }
    scores[(bh * T + t) * T + s] = sum;
    // <<< solution
}

__global__ void attention_values_kernel(float* out,        // (B, T, C)
                                        const float* att,  // (B, NH, T, T)
                                        const float* qkv,  // (B, T, 3C)
                                        int B, int T, int C, int NH) {
    const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;  // (b * T + t) * C + c
    // >>> solution
    //~ // TODO: nothing beyond the last element. Else b, t and c from i, and the head that owns channel c. Add up channel
    //~ // c of the values of tokens s <= t, weighted by att[b, h, t, s].
    if (i >= static_cast<long>(B) * T * C) {
        return;
    }
    const long bt = i / C;  // a division of longs is slow, but a thread has one for a loop over up to T tokens
    const int c = i % C;
    const long b = bt / T;
    const int t = bt % T;
    const int h = c / (C / NH);
    const float* att_t = att + ((b * NH + h) * T + t) * T;   // att[b, h, t, :]
    const float* value_0 = qkv + b * T * 3 * C + 2 * C + c;  // value[b, 0, c]; the next token's is 3C further
    float sum = 0.0f;
    for (long s = 0; s <= t; s++) { sum += att_t[s] * value_0[s * 3 * C]; }
    out[i] = sum;
    // <<< solution
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
