// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <vector>

#include "checker/blas.h"

namespace checker {
namespace {

std::vector<double> widened(std::span<const float> values) {
    return {values.begin(), values.end()};
}

std::vector<double> squared(std::vector<double> values) {
    for (double& value : values) { value *= value; }
    return values;
}

}  // namespace

Computed computed_matmul(std::span<const float> inp, std::span<const float> weight, std::span<const float> bias, int N,
                         int C, int OC, double factor) {
    constexpr double kRounding = 0x1p-24;  // U and SUM of reference/budget.py
    constexpr double kSum = 0.3;
    const std::vector<double> wide_inp = widened(inp), wide_weight = widened(weight);
    const std::vector<double> out = float64_product(wide_inp, wide_weight, N, C, OC);
    const std::vector<double> squares = float64_product(squared(wide_inp), squared(wide_weight), N, C, OC);
    const double root_of_terms = std::sqrt(C + (bias.empty() ? 0 : 1));

    Computed computed{.values = std::vector<float>(out.size()), .floor = {}, .factor = factor};
    for (std::size_t n = 0, i = 0; n < static_cast<std::size_t>(N); n++) {
        double largest = 0;
        for (std::size_t o = 0; o < static_cast<std::size_t>(OC); o++, i++) {
            const double b = bias.empty() ? 0.0 : static_cast<double>(bias[o]);
            const double value = out[i] + b;
            const double of_sum = kSum * kRounding * root_of_terms * std::sqrt(squares[i] + b * b + value * value);
            largest = std::max(largest, of_sum + kRounding * std::abs(value));
            computed.values[i] = static_cast<float>(value);
        }
        computed.floor.push_back(static_cast<float>(largest));
    }
    return computed;
}

}  // namespace checker
