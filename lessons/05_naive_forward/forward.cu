// SPDX-License-Identifier: MIT
//
// x = encoder(tokens)
// L times:  x = x + attention(layernorm(x))
//           x = x + mlp(layernorm(x))           mlp: C -> 4C, GELU, 4C -> C
// logits = layernorm(x) wte^T
//
// Lesson 02's order, and host code as there: every call queues kernels on ctx.stream and returns before they have run.
// One stream runs them in the order of the calls, so nothing waits here. All pointers are the device's: what they point
// to cannot be read here.
#include "lessons/gpt2/ops.h"
#include "lessons/gpt2/tensors.h"

std::size_t forward_scratch_bytes(const Config& config, int B, int T) {
    return attention_scratch_bytes(B, T, config.C, config.NH);
}

void forward(Activations& acts, const Parameters& params,
             const int* tokens,   // (B, T) of acts
             const int* targets,  // (B, T), or null: no loss is wanted
             Context& ctx) {
    const auto [max_T, V, Vp, L, NH, C] = acts.config;
    const int B = acts.B, T = acts.T, N = B * T;

    encoder(acts.encoded, tokens, params.wte, params.wpe, B, T, C, ctx);

    const float* x = acts.encoded;  // (B, T, C): the stream
    for (int l = 0; l < L; l++) {
        const Parameters::Layer& p = params.h[l];
        const Activations::Layer& a = acts.h[l];
        // TODO: the block, as in lesson 02. Your lines from there serve as they are.
        x = a.residual_2;
    }

    // TODO: the last layernorm and the logits: V output channels, rows Vp apart, no bias.

    if (targets) {
        // TODO: the probabilities, then the losses.
    }
}
