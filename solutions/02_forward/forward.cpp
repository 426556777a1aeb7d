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
        // >>> solution
        //~ // TODO: attention: normalise x, project it to qkv (3C channels), attend, project back, add to x.
        //~ // TODO: the MLP: normalise that sum, widen to 4C channels, GELU, project back, add.
        //~ // Fill every tensor of `a`, in the order in which tensors.h lists them. The scratch is acts.scratch.
        layernorm(a.ln_1, a.ln_1_mean, a.ln_1_rstd, x, p.ln_1_weight, p.ln_1_bias, B, T, C, ctx);
        matmul(a.qkv, a.ln_1, p.attn_c_attn_weight, p.attn_c_attn_bias, N, C, 3 * C, 3 * C, ctx);
        attention(a.attn, a.lse, a.qkv, acts.scratch, B, T, C, NH, ctx);
        matmul(a.attn_proj, a.attn, p.attn_c_proj_weight, p.attn_c_proj_bias, N, C, C, C, ctx);
        residual(a.residual_1, x, a.attn_proj, N * C, ctx);

        layernorm(a.ln_2, a.ln_2_mean, a.ln_2_rstd, a.residual_1, p.ln_2_weight, p.ln_2_bias, B, T, C, ctx);
        matmul(a.fc, a.ln_2, p.mlp_c_fc_weight, p.mlp_c_fc_bias, N, C, 4 * C, 4 * C, ctx);
        gelu(a.fc_gelu, a.fc, N * 4 * C, ctx);
        matmul(a.fc_proj, a.fc_gelu, p.mlp_c_proj_weight, p.mlp_c_proj_bias, N, 4 * C, C, C, ctx);
        residual(a.residual_2, a.residual_1, a.fc_proj, N * C, ctx);
        // <<< solution
        x = a.residual_2;
    }

    // >>> solution
    //~ // TODO: normalise x, then the logits: V output channels, rows Vp apart, no bias.
    layernorm(acts.ln_f, acts.ln_f_mean, acts.ln_f_rstd, x, params.ln_f_weight, params.ln_f_bias, B, T, C, ctx);
    matmul(acts.logits, acts.ln_f, params.wte, nullptr, N, C, V, Vp, ctx);
    // <<< solution

    if (targets) {
        // >>> solution
        //~ // TODO: the probabilities, then the losses.
        softmax(acts.probs, acts.logits, N, V, Vp, ctx);
        crossentropy(acts.losses, acts.probs, targets, N, Vp, ctx);
        // <<< solution
    }
}
