// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "lessons/gpt2/placement.h"
#include "lessons/gpt2/tensors.h"

// A GPT-2 with memory for the activations of one sequence. Nothing is allocated between runs.
class Model {
  public:
    Model(Parameters params, int max_tokens);  // room for that many tokens, at most config().max_T
    Model(const Model&) = delete;              // the placement refers to its members
    Model& operator=(const Model&) = delete;

    const Config& config() const { return params_.config; }
    int max_tokens() const { return max_tokens_; }

    // The forward pass over 1 to max_tokens() tokens. With targets, as many, the losses too, which are finite
    // also if a probability is 0 in float. The result is a view that the next run overwrites: logits and losses, and on a
    // host step every activation. Throws
    // std::invalid_argument for a token outside the vocabulary, std::runtime_error for a logit that is not finite.
    const Activations& run(std::span<const int> tokens, std::span<const int> targets = {});

    // The logits (V) that follow the last of the tokens, a view that the next run overwrites. Of more than max_tokens() only
    // the tail is looked at. Throws as run(), for a logit of that row.
    std::span<const float> next_logits(std::span<const int> tokens);

  private:
    void check_input(std::span<const int> tokens) const;
    std::span<const float> check_logits(const float* logits_t, std::size_t t);  // logits[0, t, :] (V)

    Parameters params_;
    Activations acts_;
    int max_tokens_;
    std::unique_ptr<Placement> placement_;
};

// Whose fault it is that a logit is not finite, and the mend: the weights' where they are so large that a right forward
// pass could leave float's range, else the forward pass's.
std::string why_not_finite(Parameters& params);

// The mean loss of predicting each token but the first. The text is cut into windows of max_tokens() that do not
// overlap: the first token of a window is context only for its own window. progress(done, total) counts predictions.
double mean_loss(Model& model, std::span<const int> tokens,
                 const std::function<void(std::size_t, std::size_t)>& progress = {});
