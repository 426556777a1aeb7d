// SPDX-License-Identifier: MIT
//
// build/tools/calls/NN_name: the ops that a step's forward pass calls, in its order, as JSON for scripts; NN_name is the
// lesson whose forward it is.
//
//   calls --config "max_T=1024 V=50257 L=12 NH=12 C=768" -B 4 -T 1024
//
// forward is linked with ops that note what they are called with and touch no tensor. A parameter that is null is named, with
// a minus: "matmul N=4096 C=768 OC=50257 out_stride=50304 -bias".
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "lessons/gpt2/check/sizes.h"
#include "lessons/gpt2/ops.h"
#include "lessons/gpt2/tensors.h"

// What the ops note lies in the Context, which forward hands on to each.
static nlohmann::json& noted(Context& ctx) {
    return ctx.handle<nlohmann::json>();
}

template <class... Sizes>
static void note(Context& ctx, const char* format, Sizes... sizes) {
    noted(ctx).push_back(fmt::format(fmt::runtime(format), sizes...));
}

void encoder(float*, const int*, const float*, const float*, int B, int T, int C, Context& ctx) {
    note(ctx, "encoder B={} T={} C={}", B, T, C);
}

void layernorm(float*, float*, float*, const float*, const float*, const float*, int B, int T, int C, Context& ctx) {
    note(ctx, "layernorm B={} T={} C={}", B, T, C);
}

void gelu(float*, const float*, int N, Context& ctx) {
    note(ctx, "gelu N={}", N);
}

void residual(float*, const float*, const float*, int N, Context& ctx) {
    note(ctx, "residual N={}", N);
}

void residual_layernorm(float*, float*, float*, float*, const float*, const float*, const float*, const float*, int B,
                        int T, int C, Context& ctx) {
    note(ctx, "residual_layernorm B={} T={} C={}", B, T, C);
}

void matmul(float*, const float*, const float*, const float* bias, int N, int C, int OC, int out_stride, Context& ctx) {
    note(ctx, "matmul N={} C={} OC={} out_stride={}{}", N, C, OC, out_stride, bias != nullptr ? "" : " -bias");
}

void linear(float*, const float*, const float*, const float*, int N, int C, int OC, Context& ctx) {
    note(ctx, "linear N={} C={} OC={}", N, C, OC);
}

void linear_gelu(float*, float* pre_gelu, const float*, const float*, const float*, int N, int C, int OC,
                 Context& ctx) {
    const bool has_both = pre_gelu != nullptr;
    note(ctx, "linear_gelu N={} C={} OC={} outputs={}{}", N, C, OC, has_both ? 2 : 1, has_both ? "" : " -pre_gelu");
}

void causal_softmax(float*, float*, const float*, float, int B, int NH, int T, Context& ctx) {
    note(ctx, "causal_softmax B={} NH={} T={}", B, NH, T);
}

void attention(float*, float*, const float*, void*, int B, int T, int C, int NH, Context& ctx) {
    note(ctx, "attention B={} T={} C={} NH={}", B, T, C, NH);
}

std::size_t attention_scratch_bytes(int, int, int, int) {
    return 0;
}

void softmax(float*, const float*, int N, int V, int Vp, Context& ctx) {
    note(ctx, "softmax N={} V={} Vp={}", N, V, Vp);
}

void crossentropy(float*, const float*, const int*, int N, int Vp, Context& ctx) {
    note(ctx, "crossentropy N={} Vp={}", N, Vp);
}

void loss(float*, float*, const float*, const int*, int N, int V, int Vp, Context& ctx) {
    note(ctx, "loss N={} V={} Vp={}", N, V, Vp);
}

int main(int argc, char** argv) {
    CLI::App app("Prints the ops that a forward pass calls.", "calls");
    std::string config;
    int B = 0, T = 0;
    app.add_option("--config", config, "the model: max_T=1024 V=50257 L=12 NH=12 C=768")->required();
    app.add_option("-B", B, "sequences")->required()->check(CLI::PositiveNumber);
    app.add_option("-T", T, "tokens in a sequence")->required()->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    try {
        const cases::Sizes d = cases::Sizes::of(config);
        const Config model{
            .max_T = d["max_T"], .V = d["V"], .Vp = padded_vocabulary(d["V"]), .L = d["L"], .NH = d["NH"], .C = d["C"]};
        float nothing = 0;  // every tensor: nobody reads or writes it
        int token = 0;
        const auto bind = [&](const std::string&, float*& view, const Shape&) { view = &nothing; };
        Parameters params(model);
        params.visit(bind);
        Activations acts(model, B, T);
        acts.visit(bind);
        acts.scratch = &nothing;
        Context ctx;
        noted(ctx) = nlohmann::json::array();
        forward(acts, params, &token, &token, ctx);
        fmt::print("{}\n", noted(ctx).dump(1));
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "calls: {}\n", error.what());
        return 2;
    }
}
