// SPDX-License-Identifier: MIT
//
// x = encoder(tokens)
// L times:  x = x + attention(layernorm(x))
//           x = x + mlp(layernorm(x))           mlp: C -> 4C, GELU, 4C -> C
// logits = layernorm(x) wte^T
//
// The stream x of width C runs through the whole model; each sublayer reads a normalised copy of it and adds its result
// (pre-norm). The weight of the logits is the token embedding itself.
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
    const int B = acts.B, T = acts.T, N = B * T;  // N rows; what residual and gelu call N is elements

    encoder(acts.encoded, tokens, params.wte, params.wpe, B, T, C, ctx);

    const float* x = acts.encoded;  // (B, T, C): the stream
    for (int l = 0; l < L; l++) {
        const Parameters::Layer& p = params.h[l];
        const Activations::Layer& a = acts.h[l];
        // TODO: attention: normalise x, project it to qkv (3C channels), attend, project back, add to x.
        // TODO: the MLP: normalise that sum, widen to 4C channels, GELU, project back, add.
        // Fill every tensor of `a`, in the order in which tensors.h lists them. The scratch is acts.scratch.
        x = a.residual_2;
    }

    // TODO: normalise x, then the logits: V output channels, rows Vp apart, no bias.

    if (targets) {
        // TODO: the probabilities, then the losses.
    }
}
