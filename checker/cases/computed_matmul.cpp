// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "checker/cases/blas.h"

namespace checker {
namespace {

std::vector<double> widened(std::span<const float> values) {
    return {values.begin(), values.end()};
}

std::vector<double> squared(std::vector<double> values) {
    for (double& value : values) { value *= value; }
    return values;
}

// An element's value and its share of the row's floor: floors of reference/ops/matmul.py. `squares` is the sum of the
// products' squares, `terms` how many numbers are added up.
std::pair<double, double> element(double product, double squares, double bias, int terms) {
    constexpr double kRounding = 0x1p-24;  // U and SUM of reference/ops/common/rounding.py
    constexpr double kSum = 0.3;
    const double value = product + bias;
    const double of_sum = kSum * kRounding * std::sqrt(terms) * std::sqrt(squares + bias * bias + value * value);
    return {value, of_sum + kRounding * std::abs(value)};
}

}  // namespace

std::pair<double, double> computed_element(std::span<const float> inp, std::span<const float> weight, float bias) {
    double product = 0;
    double squares = 0;
    for (std::size_t c = 0; c < inp.size(); c++) {
        const double term = static_cast<double>(inp[c]) * static_cast<double>(weight[c]);
        product += term;
        squares += term * term;
    }
    return element(product, squares, static_cast<double>(bias), static_cast<int>(inp.size()) + 1);
}

Computed computed_matmul(std::span<const float> inp, std::span<const float> weight, std::span<const float> bias, int N,
                         int C, int OC, double factor) {
    const std::vector<double> wide_inp = widened(inp), wide_weight = widened(weight);
    const std::vector<double> out = float64_product(wide_inp, wide_weight, N, C, OC);
    const std::vector<double> squares = float64_product(squared(wide_inp), squared(wide_weight), N, C, OC);

    Computed computed{.values = std::vector<float>(out.size()), .floor = {}, .factor = factor};
    for (std::size_t n = 0, i = 0; n < static_cast<std::size_t>(N); n++) {
        double largest = 0;
        for (std::size_t o = 0; o < static_cast<std::size_t>(OC); o++, i++) {
            const double b = bias.empty() ? 0.0 : static_cast<double>(bias[o]);
            const auto [value, floor] = element(out[i], squares[i], b, C + (bias.empty() ? 0 : 1));
            largest = std::max(largest, floor);
            computed.values[i] = static_cast<float>(value);
        }
        computed.floor.push_back(static_cast<float>(largest));
    }
    return computed;
}

}  // namespace checker
