// SPDX-License-Identifier: MIT
#include "lessons/gpt2/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

void check_tokens(std::span<const int> tokens, int V) {
    const auto bad = std::ranges::find_if(tokens, [V](int token) { return token < 0 || token >= V; });
    if (bad != tokens.end()) {
        throw std::invalid_argument(fmt::format("token {} at position {} is not in the vocabulary, 0 to {}", *bad,
                                                bad - tokens.begin(), V - 1));
    }
}

using Magnitudes = std::map<std::string, double, std::less<>>;  // the largest |value| of each parameter, by name

Magnitudes magnitudes_of(Parameters& params) {
    Magnitudes largest;
    params.visit([&](const std::string& name, float*& view, const Shape& shape) {
        double& value = largest[name];
        for (long i = 0; i < shape.elements(); i++) {
            value = std::max(value, std::fabs(static_cast<double>(view[i])));
        }
    });
    return largest;
}

// Whether a right forward pass could leave float's range: bounds on the activations, from layer to layer, if every
// product had the same sign. Trained weights stay far below.
bool can_overflow(const Config& config, const Magnitudes& largest) {
    const double C = config.C, head_size = C / config.NH;
    double reached = 0.0;  // the largest bound so far
    const auto bound = [&](double value) { return reached = std::max(reached, value), value; };
    const auto weight = [&](const std::string& name) { return largest.at(name + ".weight"); };
    const auto layernorm = [&](const std::string& name, double x) {
        bound(C * x * x);  // the sum of squares; a normalised value is at most sqrt(C)
        return bound(std::sqrt(C) * weight(name) + largest.at(name + ".bias"));
    };
    const auto linear = [&](const std::string& name, double K, double x) {
        return bound(K * weight(name) * x + largest.at(name + ".bias"));
    };
    double x = bound(weight("wte") + weight("wpe"));
    for (int l = 0; l < config.L; l++) {
        const std::string h = fmt::format("h.{}.", l);
        const double qkv = linear(h + "attn.c_attn", C, layernorm(h + "ln_1", x));
        bound(head_size * qkv * qkv);
        x = bound(x + linear(h + "attn.c_proj", C, qkv));
        const double fc = linear(h + "mlp.c_fc", C, layernorm(h + "ln_2", x));
        x = bound(x + linear(h + "mlp.c_proj", 4.0 * C, fc));
    }
    bound(C * weight("wte") * layernorm("ln_f", x));
    return !(reached < static_cast<double>(std::numeric_limits<float>::max()));
}

// Returns -log of the target's softmax probability, in float64: right also if the probability is 0 in float.
float loss_from_logits(std::span<const float> logits, int target) {
    const auto largest = static_cast<double>(*std::ranges::max_element(logits));
    double sum = 0.0;
    for (const float logit : logits) { sum += std::exp(static_cast<double>(logit) - largest); }
    return static_cast<float>(largest + std::log(sum) - static_cast<double>(logits[static_cast<std::size_t>(target)]));
}

}  // namespace

Model::Model(Parameters params, int max_tokens)
    : params_(std::move(params)), acts_(params_.config, 1, max_tokens), max_tokens_(max_tokens) {
    placement_ = make_placement(params_, acts_);
}

const Activations& Model::run(std::span<const int> tokens, std::span<const int> targets) {
    check_input(tokens);
    if (!targets.empty() && targets.size() != tokens.size()) {
        throw std::invalid_argument(fmt::format("{} targets for {} tokens", targets.size(), tokens.size()));
    }
    check_tokens(targets, config().V);
    // With one sequence, fewer tokens use the first rows of each view.
    acts_.T = static_cast<int>(tokens.size());
    placement_->forward(acts_, tokens.data(), targets.empty() ? nullptr : targets.data());
    for (std::size_t t = 0; t < tokens.size(); t++) {
        const std::span<const float> logits = check_logits(acts_.logits + t * static_cast<std::size_t>(config().Vp), t);
        // Beyond it the op's probability loses digits, then is 0: exp(-87) is the smallest normal float.
        constexpr float kLargestExact = 80.0f;
        if (!targets.empty() && acts_.losses[t] > kLargestExact) {
            acts_.losses[t] = loss_from_logits(logits, targets[t]);
        }
    }
    return acts_;
}

std::span<const float> Model::next_logits(std::span<const int> tokens) {
    const std::size_t T = std::min(tokens.size(), static_cast<std::size_t>(max_tokens_));
    check_input(tokens.last(T));
    return check_logits(placement_->last_logits(acts_, tokens.last(T).data(), static_cast<int>(T)), T - 1);
}

void Model::check_input(std::span<const int> tokens) const {
    if (tokens.empty() || tokens.size() > static_cast<std::size_t>(max_tokens_)) {
        throw std::invalid_argument(fmt::format("{} tokens; this run takes 1 to {}", tokens.size(), max_tokens_));
    }
    check_tokens(tokens, config().V);
}

std::span<const float> Model::check_logits(const float* logits_t, std::size_t t) {
    const std::span logits(logits_t, static_cast<std::size_t>(config().V));
    const auto bad = std::ranges::find_if_not(logits, [](float x) { return std::isfinite(x); });
    if (bad != logits.end()) {
        throw std::runtime_error(fmt::format("the logit of token {} at position {} is {}; {}", bad - logits.begin(), t,
                                             *bad, why_not_finite(params_)));
    }
    return logits;
}

std::string why_not_finite(Parameters& params) {
    const Magnitudes largest = magnitudes_of(params);
    if (!can_overflow(params.config, largest)) {
        return "the forward pass of this build is wrong: run the checks of its lessons";
    }
    const auto& [name, value] = *std::ranges::max_element(largest, {}, [](const auto& entry) { return entry.second; });
    return fmt::format(
        "the weights of this model are so large ({} reaches {:.2g}) that float overflows: train or download the model "
        "again",
        name, value);
}

double mean_loss(Model& model, std::span<const int> tokens,
                 const std::function<void(std::size_t, std::size_t)>& progress) {
    if (tokens.size() < 2) {
        throw std::invalid_argument("a loss needs at least two tokens: one to predict the next");
    }
    const std::size_t predictions = tokens.size() - 1;
    double sum = 0.0;
    for (std::size_t first = 0; first < predictions;) {
        const std::size_t T = std::min(predictions - first, static_cast<std::size_t>(model.max_tokens()));
        const Activations& acts = model.run(tokens.subspan(first, T), tokens.subspan(first + 1, T));
        for (std::size_t t = 0; t < T; t++) { sum += static_cast<double>(acts.losses[t]); }
        first += T;
        if (progress) {
            progress(first, predictions);
        }
    }
    return sum / static_cast<double>(predictions);
}
