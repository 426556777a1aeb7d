// SPDX-License-Identifier: MIT
#include "lessons/gpt2/model.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace {

void check_tokens(std::span<const int> tokens, int V) {
    const auto bad = std::ranges::find_if(tokens, [V](int token) { return token < 0 || token >= V; });
    if (bad != tokens.end()) {
        throw std::invalid_argument(fmt::format("token {} at position {} is not in the vocabulary, 0 to {}", *bad,
                                                bad - tokens.begin(), V - 1));
    }
}

}  // namespace

Model::Model(Parameters params, int max_tokens)
    : params_(std::move(params)), acts_(params_.config, 1, max_tokens), max_tokens_(max_tokens) {
    placement_ = place(params_, acts_);
}

const Activations& Model::run(std::span<const int> tokens, std::span<const int> targets) {
    if (tokens.empty() || tokens.size() > static_cast<std::size_t>(max_tokens_)) {
        throw std::invalid_argument(fmt::format("{} tokens; this run takes 1 to {}", tokens.size(), max_tokens_));
    }
    if (!targets.empty() && targets.size() != tokens.size()) {
        throw std::invalid_argument(fmt::format("{} targets for {} tokens", targets.size(), tokens.size()));
    }
    check_tokens(tokens, config().V);
    check_tokens(targets, config().V);
    // With one sequence, fewer tokens use the first rows of each view.
    acts_.T = static_cast<int>(tokens.size());
    placement_->forward(acts_, tokens.data(), targets.empty() ? nullptr : targets.data());
    return acts_;
}

std::span<const float> Model::next_logits(std::span<const int> tokens) {
    const std::size_t T = std::min(tokens.size(), static_cast<std::size_t>(max_tokens_));
    const Activations& acts = run(tokens.last(T));
    const float* logits_t = acts.logits + (T - 1) * static_cast<std::size_t>(config().Vp);  // logits[0, T - 1, :]
    return {logits_t, static_cast<std::size_t>(config().V)};
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
