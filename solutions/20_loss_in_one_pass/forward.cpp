// SPDX-License-Identifier: MIT
//
// x = encoder(tokens)
// L times:  x = x + attention(layernorm(x))
//           x = x + mlp(layernorm(x))           mlp: C -> 4C, GELU, 4C -> C
// logits = layernorm(x) wte^T
//
// Given. Lesson 12's, but that one op makes the losses from the logits. It leaves their log-sum-exps in loss_lse, from which a
// backward pass gets any probability back: exp(logits[n, v] - loss_lse[n]). The step has no probs.
// >>> given
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

    const Activations::Layer& first = acts.h[0];
    layernorm(first.ln_1, first.ln_1_mean, first.ln_1_rstd, acts.encoded, params.h[0].ln_1_weight,
              params.h[0].ln_1_bias, B, T, C, ctx);
    const float* x = acts.encoded;  // (B, T, C): the stream
    for (int l = 0; l < L; l++) {
        const Parameters::Layer& p = params.h[l];
        const Activations::Layer& a = acts.h[l];
        linear(a.qkv, a.ln_1, p.attn_c_attn_weight, p.attn_c_attn_bias, N, C, 3 * C, ctx);
        attention(a.attn, a.lse, a.qkv, acts.scratch, B, T, C, NH, ctx);
        linear(a.attn_proj, a.attn, p.attn_c_proj_weight, p.attn_c_proj_bias, N, C, C, ctx);
        residual_layernorm(a.residual_1, a.ln_2, a.ln_2_mean, a.ln_2_rstd, x, a.attn_proj, p.ln_2_weight, p.ln_2_bias,
                           B, T, C, ctx);

        linear_gelu(a.fc_gelu, acts.backward_follows ? a.fc : nullptr, a.ln_2, p.mlp_c_fc_weight, p.mlp_c_fc_bias, N, C,
                    4 * C, ctx);
        linear(a.fc_proj, a.fc_gelu, p.mlp_c_proj_weight, p.mlp_c_proj_bias, N, 4 * C, C, ctx);
        if (l + 1 < L) {
            const Parameters::Layer& p_next = params.h[l + 1];
            const Activations::Layer& a_next = acts.h[l + 1];
            residual_layernorm(a.residual_2, a_next.ln_1, a_next.ln_1_mean, a_next.ln_1_rstd, a.residual_1, a.fc_proj,
                               p_next.ln_1_weight, p_next.ln_1_bias, B, T, C, ctx);
        } else {
            residual_layernorm(a.residual_2, acts.ln_f, acts.ln_f_mean, acts.ln_f_rstd, a.residual_1, a.fc_proj,
                               params.ln_f_weight, params.ln_f_bias, B, T, C, ctx);
        }
        x = a.residual_2;
    }
    matmul(acts.logits, acts.ln_f, params.wte, nullptr, N, C, Vp, Vp, ctx);

    if (targets) {
        loss(acts.losses, acts.loss_lse, acts.logits, targets, N, V, Vp, ctx);
    }
}
