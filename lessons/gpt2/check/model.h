// SPDX-License-Identifier: MIT
//
// Lists of a model's tensors, the views bound to them, scratch and FLOP: shared by the calls of ops on a whole model.
#pragma once

#include <fmt/format.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lessons/gpt2/check/op_spec.h"
#include "lessons/gpt2/tensors.h"

namespace cases {

struct ModelTensor {
    std::string buffer;     // "grad.wte.weight"
    std::string name;       // "wte.weight"
    std::string_view dims;  // "O C"
    std::vector<long> sizes;
    checker::Element element = checker::Element::f32;
};

enum class ActivationsAre {
    kept,     // outputs: a backward pass follows
    outputs,  // outputs, but scratch if only a backward pass reads them
    scratch,
};

// The tensors of a call, each a buffer of its own, so that an access outside its view is detected; Element's, but for
// statistics. A call may have several sets of parameters, each with a prefix: gradients are "grad.wte.weight". Activations
// that are all scratch have the prefix "acts.". `scratch_bytes` says how much scratch the call's forward pass takes.
template <class Element = float, auto scratch_bytes = forward_scratch_bytes>
class ModelCallOf {
  public:
    // The activations have room for d's B sequences of T tokens; `has_probs` is theirs.
    ModelCallOf(const Sizes& d, ActivationsAre activations, bool has_probs = true,
                std::string prefix_of_scratch = "acts.")
        : config_{.max_T = d["max_T"], .V = d["V"], .Vp = d["Vp"], .L = d["L"], .NH = d["NH"], .C = d["C"]},
          B_(d["B"]),
          T_(d["T"]),
          activations_are_(activations),
          has_probs_(has_probs),
          prefix_(activations == ActivationsAre::scratch ? std::move(prefix_of_scratch) : "") {}

    std::vector<ModelTensor> parameters(const std::string& prefix = "") const {
        return list(ParametersOf<Element>(config_), prefix, {"", "C", "O C"});
    }
    std::vector<ModelTensor> activations() const {
        ActivationsOf<Element> acts(config_, B_, T_);
        acts.has_probs = has_probs_;
        return list(std::move(acts), prefix_, {"", "", "B T", "B T C"});
    }
    std::vector<ModelTensor> output_activations() const {
        std::vector<ModelTensor> result = activations();
        std::erase_if(result, [this](const ModelTensor& each) { return is_scratch(each.name); });
        return result;
    }
    std::vector<checker::Scratch> scratch() const {  // forward's, and scratch activations
        std::vector<checker::Scratch> result;
        result.push_back({scratch_name(),
                          [*this](const Library& library) { return library.find<scratch_bytes>()(config_, B_, T_); }});
        for (const ModelTensor& each : activations()) {
            if (is_scratch(each.name)) {
                const auto elements = static_cast<std::size_t>(checker::Dims(each.dims, each.sizes).elements());
                const std::size_t bytes = elements * checker::bytes_of(each.element);
                result.push_back({each.buffer, [=](const Library&) { return bytes; }});
            }
        }
        return result;
    }

    ParametersOf<Element> bind_parameters(const Buffers& at, const std::string& prefix = "") const {
        ParametersOf<Element> params(config_);
        params.visit([&](const std::string& name, auto*& view, const Shape&) { bind(view, at, prefix + name); });
        return params;
    }
    ActivationsOf<Element> bind_activations(const Buffers& at) const {  // and forward's scratch
        ActivationsOf<Element> acts(config_, B_, T_);
        acts.has_probs = at.has(prefix_ + "probs");
        acts.visit([&]<class T>(const std::string& name, T*& view, const Shape&) {
            if (is_scratch(name)) {
                view = static_cast<T*>(at.scratch(prefix_ + name));
            } else {
                bind(view, at, name);
            }
        });
        acts.scratch = at.scratch(scratch_name());
        acts.backward_follows = activations_are_ == ActivationsAre::kept;
        return acts;
    }

  private:
    static void bind(float*& view, const Buffers& at, const std::string& name) { view = at.f32(name); }
    static void bind(__nv_bfloat16*& view, const Buffers& at, const std::string& name) { view = at.bf16(name); }

    std::string scratch_name() const { return prefix_ + "scratch"; }
    // Returns true if no check looks at the activation. Without a backward pass nothing but GELU reads fc.
    bool is_scratch(std::string_view name) const {
        return activations_are_ == ActivationsAre::scratch ||
               (activations_are_ == ActivationsAre::outputs && name.ends_with(".fc"));
    }
    // The dims of a tensor depend on its rank; attention's lse alone is (B, NH, T).
    template <class Views>
    static std::vector<ModelTensor> list(Views views, const std::string& prefix, std::array<const char*, 4> dims) {
        std::vector<ModelTensor> tensors;
        views.visit([&]<class T>(const std::string& name, T*&, const Shape& shape) {
            const std::span axes = std::span(shape.dims).first(static_cast<std::size_t>(shape.rank));
            const char* const names = name.ends_with(".lse") ? "B NH/h T" : dims[axes.size()];
            const auto element = std::is_same_v<T, float> ? checker::Element::f32 : checker::Element::bf16;
            tensors.push_back({prefix + name, name, names, {axes.begin(), axes.end()}, element});
        });
        return tensors;
    }

    Config config_;
    int B_, T_;
    ActivationsAre activations_are_;
    bool has_probs_;
    std::string prefix_;
};

using ModelCall = ModelCallOf<>;

// Returns true if only the losses need the activation: without targets forward leaves it as it is.
inline bool is_of_losses(std::string_view name) {
    return name == "probs" || name == "loss_lse" || name == "losses";
}

// Calls an op on a whole model. Throws checker::LeftChanged if acts or the Context is left otherwise than it was.
template <class Element, class Op>
void call_with(const ActivationsOf<Element>& acts, const Context& ctx, Op&& op) {
    const int B = acts.B, T = acts.T;
    call_with(ctx, op);
    for (const auto& [name, now, before] : {std::tuple("B", acts.B, B), std::tuple("T", acts.T, T)}) {
        if (now != before) {
            throw checker::LeftChanged(
                fmt::format("acts.{} is {} after the call, and was {} before it: later calls compute so much less",
                            name, now, before));
        }
    }
}

// Draws a parameter, or what a tensor of a parameter's shape holds before a call that changes it.
inline checker::Input drawn(const ModelTensor& tensor) {
    return checker::normal(tensor.buffer, tensor.dims, tensor.sizes, 0.1F, tensor.element);
}

// Returns the FLOP of the layers' matmuls, and of attention on and below the diagonal.
inline double layers_flop(const Sizes& d) {
    const double rows = d.number("B") * d["T"], C = d["C"];
    return d["L"] * (2 * rows * 12 * C * C + 2 * rows * (d["T"] + 1) * C);
}

}  // namespace cases
