// SPDX-License-Identifier: MIT
//
// A wrong solution: head h takes channels h, h + NH, h + 2 NH, ….
#include <cmath>

#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

namespace {

// One thread a row [b, h, t].
__global__ void attention_kernel(float* out, float* lse, float* att, const float* qkv, float scale, int B, int T, int C,
                                 int NH) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= B * NH * T) {
        return;
    }
    const int b = row / T / NH, h = row / T % NH, t = row % T, HS = C / NH;
    const int last = t;
    float* att_t = att + row * T;
    const float* query = qkv + (b * T + t) * 3 * C + h;
    float* out_t = out + (b * T + t) * C + h;
    float max = -INFINITY, sum = 0.0f;
    for (int s = 0; s <= last; s++) {
        const float* key = qkv + (b * T + s) * 3 * C + C + h;
        float dot = 0.0f;
        for (int i = 0; i < HS; i++) { dot += query[i * NH] * key[i * NH]; }
        att_t[s] = scale * dot;
        max = fmaxf(max, att_t[s]);
    }
    for (int s = 0; s <= last; s++) {
        att_t[s] = expf(att_t[s] - max);
        sum += att_t[s];
    }
    for (int i = 0; i < HS; i++) {
        float weighted = 0.0f;
        for (int s = 0; s <= last; s++) { weighted += att_t[s] / sum * qkv[(b * T + s) * 3 * C + 2 * C + h + i * NH]; }
        out_t[i * NH] = weighted;
    }
    lse[row] = max + logf(sum);
}

}  // namespace

std::size_t attention_scratch_bytes(int B, int T, int, int NH) {
    return sizeof(float) * B * NH * T * T;
}

void attention(float* out, float* lse, const float* qkv, void* scratch, int B, int T, int C, int NH, Context& ctx) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(C / NH));
    attention_kernel<<<ceil_div(B * NH * T, 32), 32, 0, ctx.stream>>>(out, lse, static_cast<float*>(scratch), qkv,
                                                                      scale, B, T, C, NH);
    check(cudaGetLastError());
}
