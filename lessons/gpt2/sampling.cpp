// SPDX-License-Identifier: MIT
#include "lessons/gpt2/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

std::uint64_t Random::next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double Random::uniform() {
    return static_cast<double>(next() >> 11) * 0x1p-53;
}

int sample(std::span<const float> logits, const Sampling& options, Random& random) {
    if (logits.empty()) {
        throw std::invalid_argument("no logits to sample from");
    }
    const auto best = std::ranges::max_element(logits);  // the first of equals
    if (options.temperature == 0.0) {
        return static_cast<int>(best - logits.begin());
    }

    // Unnormalised probabilities; the largest is 1.
    std::vector<double> weights(logits.size());
    std::ranges::transform(logits, weights.begin(), [&](float logit) {
        return std::exp((static_cast<double>(logit) - static_cast<double>(*best)) / options.temperature);
    });

    std::vector<int> order(logits.size());  // candidates
    std::iota(order.begin(), order.end(), 0);
    const bool truncates_k = options.top_k > 0 && static_cast<std::size_t>(options.top_k) < order.size();
    if (truncates_k || options.top_p < 1.0) {
        std::ranges::stable_sort(order, std::greater<>(), [&](int v) { return logits[static_cast<std::size_t>(v)]; });
        if (truncates_k) {
            order.resize(static_cast<std::size_t>(options.top_k));
        }
    }
    const auto weight = [&](int v) { return weights[static_cast<std::size_t>(v)]; };
    double total = 0.0;
    for (const int v : order) { total += weight(v); }
    if (options.top_p < 1.0) {
        const double enough = options.top_p * total;
        std::size_t kept = 0;
        total = 0.0;
        do { total += weight(order[kept++]); } while (kept < order.size() && total < enough);
        order.resize(kept);
    }

    double remaining = random.uniform() * total;
    int chosen = order.front();
    for (const int v : order) {
        if (weight(v) == 0.0) {
            continue;
        }  // rounding must not end on an impossible token
        chosen = v;
        remaining -= weight(v);
        if (remaining < 0.0) {
            break;
        }
    }
    return chosen;
}
