// SPDX-License-Identifier: MIT
//
// Lists of a model's tensors, the views bound to them, scratch and FLOP: shared by the calls of ops on a whole model.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/gpt2/check/op_spec.h"
#include "lessons/gpt2/tensors.h"

namespace cases {

struct ModelTensor {
    std::string buffer;     // "grad.wte.weight"
    std::string name;       // "wte.weight"
    std::string_view dims;  // "O C"
    std::vector<long> sizes;
};

enum class ActivationsAre { outputs, scratch };

// The tensors of a call, each a buffer of its own, so that an access outside its view is detected. A call may have several
// sets of parameters, each with a prefix: gradients are "grad.wte.weight". Scratch activations have the prefix "acts.".
class ModelCall {
  public:
    // The activations have room for d's B sequences of T tokens.
    ModelCall(const Sizes& d, ActivationsAre activations)
        : config_{.max_T = d["max_T"], .V = d["V"], .Vp = d["Vp"], .L = d["L"], .NH = d["NH"], .C = d["C"]},
          B_(d["B"]),
          T_(d["T"]),
          acts_are_scratch_(activations == ActivationsAre::scratch) {}

    std::vector<ModelTensor> parameters(const std::string& prefix = "") const {
        return list(Parameters(config_), prefix, {"", "C", "O C"});
    }
    std::vector<ModelTensor> activations() const {
        return list(Activations(config_, B_, T_), acts_are_scratch_ ? "acts." : "", {"", "", "B T", "B T C"});
    }
    std::vector<checker::Scratch> scratch() const {  // forward's, and scratch activations
        std::vector<checker::Scratch> result;
        result.push_back({"scratch", [*this](const Library& library) {
                              return library.find<forward_scratch_bytes>()(config_, B_, T_);
                          }});
        for (const ModelTensor& each : acts_are_scratch_ ? activations() : std::vector<ModelTensor>()) {
            const auto elements = static_cast<std::size_t>(checker::Dims(each.dims, each.sizes).elements());
            result.push_back({each.buffer, [=](const Library&) { return elements * sizeof(float); }});
        }
        return result;
    }

    Parameters bind_parameters(const Buffers& at, const std::string& prefix = "") const {
        Parameters params(config_);
        params.visit([&](const std::string& name, float*& view, const Shape&) { view = at.f32(prefix + name); });
        return params;
    }
    Activations bind_activations(const Buffers& at) const {  // and forward's scratch
        Activations acts(config_, B_, T_);
        acts.visit([&](const std::string& name, float*& view, const Shape&) {
            view = acts_are_scratch_ ? static_cast<float*>(at.scratch("acts." + name)) : at.f32(name);
        });
        acts.scratch = at.scratch("scratch");
        return acts;
    }

  private:
    // The dims of a tensor depend on its rank; lse alone is (B, NH, T).
    template <class Views>
    static std::vector<ModelTensor> list(Views views, const std::string& prefix, std::array<const char*, 4> dims) {
        std::vector<ModelTensor> tensors;
        views.visit([&](const std::string& name, float*&, const Shape& shape) {
            const std::span axes = std::span(shape.dims).first(static_cast<std::size_t>(shape.rank));
            const char* const names = name.ends_with("lse") ? "B NH/h T" : dims[axes.size()];
            tensors.push_back({prefix + name, name, names, {axes.begin(), axes.end()}});
        });
        return tensors;
    }

    Config config_;
    int B_, T_;
    bool acts_are_scratch_;
};

// Draws a parameter, or what a tensor of a parameter's shape holds before a call that changes it.
inline checker::Input drawn(const ModelTensor& tensor) {
    return checker::normal(tensor.buffer, tensor.dims, tensor.sizes, 0.1F);
}

// Returns the FLOP of the layers' matmuls, and of attention on and below the diagonal.
inline double layers_flop(const Sizes& d) {
    const double rows = d.number("B") * d["T"], C = d["C"];
    return d["L"] * (2 * rows * 12 * C * C + 2 * rows * (d["T"] + 1) * C);
}

}  // namespace cases
