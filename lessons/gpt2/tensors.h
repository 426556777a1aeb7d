// SPDX-License-Identifier: MIT
//
// Parameters and activations of a GPT-2: views with names into one allocation each. visit() lists every view once,
// with its name and shape; laying out, loading, printing and checking all go through it.
// Names are Hugging Face's for the parameters. Weights are (OC, C): output channels first.
//
// Element is float or __nv_bfloat16. Statistics are float with either: mean, rstd, lse, losses.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "lessons/gpt2/config.h"

struct __nv_bfloat16;  // cuda_bf16.h has it

// The shape of a view: up to four dimensions.
struct Shape {
    std::array<long, 4> dims{};
    int rank = 0;

    Shape() = default;
    template <class... Dim>
    explicit Shape(Dim... dim) : dims{static_cast<long>(dim)...}, rank(sizeof...(Dim)) {}
    long elements() const {
        long n = 1;
        for (int i = 0; i < rank; i++) { n *= dims[static_cast<std::size_t>(i)]; }
        return n;
    }
};

// Owns one zeroed allocation, aligned to 64 bytes. Move-only.
class Arena {
  public:
    Arena() = default;
    explicit Arena(std::size_t bytes);  // throws std::runtime_error with the size when memory is short
    std::byte* data() const { return data_.get(); }

  private:
    struct Free {
        void operator()(std::byte* p) const;
    };
    std::unique_ptr<std::byte, Free> data_;
};

// Returns sizeof(Element). __nv_bfloat16 is an incomplete type in host code.
template <class Element>
constexpr std::size_t element_bytes() {
    if constexpr (std::is_same_v<Element, __nv_bfloat16>) {
        return 2;
    } else {
        return sizeof(Element);
    }
}

// Weights, or what has their shapes: gradients, an optimizer's moments.
template <class Element>
struct ParametersOf {
    struct Layer {
        Element* ln_1_weight = nullptr;         // (C)
        Element* ln_1_bias = nullptr;           // (C)
        Element* attn_c_attn_weight = nullptr;  // (3C, C)
        Element* attn_c_attn_bias = nullptr;    // (3C)
        Element* attn_c_proj_weight = nullptr;  // (C, C)
        Element* attn_c_proj_bias = nullptr;    // (C)
        Element* ln_2_weight = nullptr;         // (C)
        Element* ln_2_bias = nullptr;           // (C)
        Element* mlp_c_fc_weight = nullptr;     // (4C, C)
        Element* mlp_c_fc_bias = nullptr;       // (4C)
        Element* mlp_c_proj_weight = nullptr;   // (C, 4C)
        Element* mlp_c_proj_bias = nullptr;     // (C)
    };

    Config config;
    Element* wte = nullptr;          // (Vp, C), rows V and beyond are zero; also the weight of the logits
    Element* wpe = nullptr;          // (max_T, C)
    std::vector<Layer> h;            // L
    Element* ln_f_weight = nullptr;  // (C)
    Element* ln_f_bias = nullptr;    // (C)

    ParametersOf() = default;
    explicit ParametersOf(const Config& config_);  // views unset: for callers that bind them to their own memory
    void allocate();                               // one zeroed arena for all views, each aligned to 64 bytes

    // f(name, view, shape) for every parameter, in the order of the model.
    template <class F>
    void visit(F&& f) {
        const auto [max_T, V, Vp, L, NH, C] = config;
        f(std::string("wte.weight"), wte, Shape(Vp, C));
        f(std::string("wpe.weight"), wpe, Shape(max_T, C));
        for (std::size_t l = 0; l < h.size(); l++) {
            const std::string prefix = "h." + std::to_string(l) + ".";
            Layer& p = h[l];
            f(prefix + "ln_1.weight", p.ln_1_weight, Shape(C));
            f(prefix + "ln_1.bias", p.ln_1_bias, Shape(C));
            f(prefix + "attn.c_attn.weight", p.attn_c_attn_weight, Shape(3 * C, C));
            f(prefix + "attn.c_attn.bias", p.attn_c_attn_bias, Shape(3 * C));
            f(prefix + "attn.c_proj.weight", p.attn_c_proj_weight, Shape(C, C));
            f(prefix + "attn.c_proj.bias", p.attn_c_proj_bias, Shape(C));
            f(prefix + "ln_2.weight", p.ln_2_weight, Shape(C));
            f(prefix + "ln_2.bias", p.ln_2_bias, Shape(C));
            f(prefix + "mlp.c_fc.weight", p.mlp_c_fc_weight, Shape(4 * C, C));
            f(prefix + "mlp.c_fc.bias", p.mlp_c_fc_bias, Shape(4 * C));
            f(prefix + "mlp.c_proj.weight", p.mlp_c_proj_weight, Shape(C, 4 * C));
            f(prefix + "mlp.c_proj.bias", p.mlp_c_proj_bias, Shape(C));
        }
        f(std::string("ln_f.weight"), ln_f_weight, Shape(C));
        f(std::string("ln_f.bias"), ln_f_bias, Shape(C));
    }

  private:
    Arena arena_;
};

using Parameters = ParametersOf<float>;

template <class Element>
struct ActivationsOf {
    struct Layer {
        Element* ln_1 = nullptr;        // (B, T, C)
        float* ln_1_mean = nullptr;     // (B, T)
        float* ln_1_rstd = nullptr;     // (B, T)
        Element* qkv = nullptr;         // (B, T, 3C)
        Element* attn = nullptr;        // (B, T, C)
        float* lse = nullptr;           // (B, NH, T)
        Element* attn_proj = nullptr;   // (B, T, C)
        Element* residual_1 = nullptr;  // (B, T, C): the stream after attention
        Element* ln_2 = nullptr;        // (B, T, C)
        float* ln_2_mean = nullptr;     // (B, T)
        float* ln_2_rstd = nullptr;     // (B, T)
        Element* fc = nullptr;          // (B, T, 4C): before the GELU
        Element* fc_gelu = nullptr;     // (B, T, 4C)
        Element* fc_proj = nullptr;     // (B, T, C)
        Element* residual_2 = nullptr;  // (B, T, C): the stream after the MLP
    };

    Config config;
    int B = 0;
    int T = 0;
    Element* encoded = nullptr;  // (B, T, C)
    std::vector<Layer> h;        // L
    Element* ln_f = nullptr;     // (B, T, C)
    float* ln_f_mean = nullptr;  // (B, T)
    float* ln_f_rstd = nullptr;  // (B, T)
    Element* logits = nullptr;   // (B, T, Vp)
    Element* probs = nullptr;    // (B, T, Vp), if has_probs
    float* loss_lse = nullptr;   // (B, T), if not has_probs: the log-sum-exp of each row of the logits
    float* losses = nullptr;     // (B, T)
    void* scratch = nullptr;     // forward_scratch_bytes(config, B, T)
    // True if a backward pass reads what forward leaves here. If not, forward need not fill what nothing else reads: fc.
    bool backward_follows = false;
    // True if the step stores probabilities, false if it computes each loss from the logits and stores log-sum-exps.
    bool has_probs = true;

    ActivationsOf() = default;
    ActivationsOf(const Config& config_, int B_, int T_);  // views unset, as for Parameters
    void allocate(std::size_t scratch_bytes);              // one zeroed arena for all views and the scratch
    void allocate_results();                               // logits and losses alone, which a device's are copied to

    // f(name, view, shape) for every activation that the step has, in the order in which forward makes them. Scratch is not
    // listed.
    template <class F>
    void visit(F&& f) {
        const int C = config.C, NH = config.NH, Vp = config.Vp;
        f(std::string("encoded"), encoded, Shape(B, T, C));
        for (std::size_t l = 0; l < h.size(); l++) {
            const std::string prefix = "h." + std::to_string(l) + ".";
            Layer& a = h[l];
            f(prefix + "ln_1", a.ln_1, Shape(B, T, C));
            f(prefix + "ln_1_mean", a.ln_1_mean, Shape(B, T));
            f(prefix + "ln_1_rstd", a.ln_1_rstd, Shape(B, T));
            f(prefix + "qkv", a.qkv, Shape(B, T, 3 * C));
            f(prefix + "attn", a.attn, Shape(B, T, C));
            f(prefix + "lse", a.lse, Shape(B, NH, T));
            f(prefix + "attn_proj", a.attn_proj, Shape(B, T, C));
            f(prefix + "residual_1", a.residual_1, Shape(B, T, C));
            f(prefix + "ln_2", a.ln_2, Shape(B, T, C));
            f(prefix + "ln_2_mean", a.ln_2_mean, Shape(B, T));
            f(prefix + "ln_2_rstd", a.ln_2_rstd, Shape(B, T));
            f(prefix + "fc", a.fc, Shape(B, T, 4 * C));
            f(prefix + "fc_gelu", a.fc_gelu, Shape(B, T, 4 * C));
            f(prefix + "fc_proj", a.fc_proj, Shape(B, T, C));
            f(prefix + "residual_2", a.residual_2, Shape(B, T, C));
        }
        f(std::string("ln_f"), ln_f, Shape(B, T, C));
        f(std::string("ln_f_mean"), ln_f_mean, Shape(B, T));
        f(std::string("ln_f_rstd"), ln_f_rstd, Shape(B, T));
        f(std::string("logits"), logits, Shape(B, T, Vp));
        if (has_probs) {
            f(std::string("probs"), probs, Shape(B, T, Vp));
        } else {
            f(std::string("loss_lse"), loss_lse, Shape(B, T));
        }
        f(std::string("losses"), losses, Shape(B, T));
    }

  private:
    Arena arena_;
};

using Activations = ActivationsOf<float>;

// Makes acts those of B sequences of T tokens, no more than it has room for, until the end of the scope: of each view the first
// B * T rows are used.
template <class Element>
class Narrowed {
  public:
    Narrowed(ActivationsOf<Element>& acts, int B, int T) : acts_(acts), B_(acts.B), T_(acts.T) {
        acts.B = B;
        acts.T = T;
    }
    Narrowed(const Narrowed&) = delete;
    Narrowed& operator=(const Narrowed&) = delete;
    ~Narrowed() {
        acts_.B = B_;
        acts_.T = T_;
    }

  private:
    ActivationsOf<Element>& acts_;
    int B_, T_;
};
