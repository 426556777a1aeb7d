// SPDX-License-Identifier: MIT
//
// From the logits of the last position to the next token.
#pragma once

#include <cstdint>
#include <span>

// SplitMix64: the same numbers from the same seed on every machine, which the standard's distributions do not promise.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    double uniform();  // in [0, 1), a multiple of 2^-53

  private:
    std::uint64_t state_;
};

struct Sampling {
    double temperature = 1.0;  // divides the logits; 0 always takes the most likely token
    int top_k = 0;             // only the k most likely tokens; 0: all
    double top_p = 1.0;        // only the most likely tokens that together reach this probability, at least one
};

// Draws one token. top_k is applied first, top_p to what it leaves. The logits are finite: Model's
// are, or it throws.
int sample(std::span<const float> logits, const Sampling& options, Random& random);
