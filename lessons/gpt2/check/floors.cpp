// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/floors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>

#include "checker/cases/blas.h"

namespace cases {
namespace {

std::vector<double> widened(std::span<const float> values) {
    return {values.begin(), values.end()};
}

std::vector<double> squared(std::vector<double> values) {
    for (double& value : values) { value *= value; }
    return values;
}

}  // namespace

double sum_error(double squares, double total, double terms) {
    return kSum * kRounding * std::sqrt(terms) * std::sqrt(squares + total * total);
}

SoftmaxRow softmax_row(std::span<const double> exponents, std::span<const double> of_exponents) {
    const double largest = *std::ranges::max_element(exponents);
    SoftmaxRow row;
    double sum = 0;
    for (const double x : exponents) { sum += row.probs.emplace_back(std::exp(x - largest)); }
    double lost = 0, moved = 0;  // terms below half an ulp of the sum vanish in it
    for (std::size_t i = 0; i < row.probs.size(); i++) {
        double& p = row.probs[i];
        p /= sum;
        lost += p < kRounding ? p : 0;
        moved += p * of_exponents[i] * p * of_exponents[i];
    }
    row.lse = largest + std::log(sum);
    const double of_sum = kSum * kRounding * std::sqrt(static_cast<double>(exponents.size())) + kRounding + lost;
    for (std::size_t i = 0; i < row.probs.size(); i++) {
        row.of_probs = std::max(row.of_probs, row.probs[i] * (of_exponents[i] + of_sum + 2 * kRounding));
    }
    row.of_lse = std::sqrt(moved) + of_sum + kRounding * (std::abs(row.lse) + std::abs(largest));
    return row;
}

SoftmaxRow row_of_logits(const Values& inputs, std::size_t n, const Sizes& sizes) {
    const auto V = static_cast<std::size_t>(sizes["V"]), Vp = static_cast<std::size_t>(sizes["Vp"]);
    const std::vector<double> logits = widened(inputs[0].subspan(n * Vp, V));
    return softmax_row(logits, of_exponents(logits));
}

std::vector<double> of_exponents(std::span<const double> exponents) {
    const double largest = std::abs(*std::ranges::max_element(exponents));
    std::vector<double> errors;
    for (const double x : exponents) {  // minus infinity is exact, and so is its exponential
        errors.push_back(std::isinf(x) ? 0 : kRounding * (std::abs(x) + largest));
    }
    return errors;
}

std::vector<checker::Computed> layernorm_of(std::span<const double> inp, std::size_t C, std::span<const float> weight,
                                            std::span<const float> bias, double of_inp) {
    constexpr double kEps = 1e-5;
    const auto channels = static_cast<double>(C);
    std::vector<checker::Computed> computed(3);
    for (std::size_t row = 0; row < inp.size(); row += C) {
        double sum = 0, squares = 0, variance = 0, fourth = 0;
        for (const double x : inp.subspan(row, C)) {
            sum += x;
            squares += x * x;
        }
        const double mean = sum / channels;
        for (const double x : inp.subspan(row, C)) {
            const double square = (x - mean) * (x - mean);
            variance += square / channels;
            fourth += square * square;
        }
        const double rstd = 1 / std::sqrt(variance + kEps);
        const double of_mean = sum_error(squares, sum, channels) / channels + kRounding * std::abs(mean);
        const double of_variance = sum_error(fourth, variance * channels, channels) / channels +
                                   kRounding * std::abs(mean) * std::sqrt(2 * variance / channels);
        const double of_rstd = rstd * (0.5 * of_variance * rstd * rstd + kRounding);
        const double of_sums =
            of_inp * std::sqrt(squares) / channels;  // what errors of the elements make of the mean's
        double of_out = 0, of_elements = 0;
        for (std::size_t c = 0; c < C; c++) {
            const double weight_c = weight[c], scaled = (inp[row + c] - mean) * rstd * weight_c;
            const double out = scaled + bias[c];
            of_out =
                std::max(of_out, std::abs(weight_c * rstd) * of_mean +
                                     std::abs(scaled) * (of_rstd / rstd + 2 * kRounding) + kRounding * std::abs(out));
            of_elements = std::max(of_elements, std::abs(weight_c * rstd * inp[row + c]) * of_inp);
            computed[2].values.push_back(static_cast<float>(out));
        }
        computed[0].values.push_back(static_cast<float>(mean));
        computed[0].floor.push_back(static_cast<float>(of_mean + of_sums));
        computed[1].values.push_back(static_cast<float>(rstd));
        computed[1].floor.push_back(static_cast<float>(of_rstd + std::pow(rstd, 3) * std::sqrt(variance) * of_sums));
        computed[2].floor.push_back(static_cast<float>(of_out + of_elements));
    }
    return computed;
}

checker::Computed elementwise(std::size_t count, std::size_t row,
                              const std::function<std::pair<double, double>(std::size_t i)>& element) {
    checker::Computed computed;
    for (std::size_t i = 0; i < count; i++) {
        const auto [value, floor] = element(i);
        computed.values.push_back(static_cast<float>(value));
        if (i % row == 0) {
            computed.floor.push_back(0);
        }
        computed.floor.back() = std::max(computed.floor.back(), static_cast<float>(floor));
    }
    return computed;
}

std::pair<double, double> of_product(double product, double squares, double bias, int terms) {
    const double value = product + bias;
    return {value, sum_error(squares + bias * bias, value, terms) + kRounding * std::abs(value)};
}

std::pair<double, double> product_element(const Sizes& sizes, long element, const Values& inputs) {
    const auto C = static_cast<std::size_t>(sizes["C"]), OC = static_cast<std::size_t>(sizes["OC"]);
    const auto n = static_cast<std::size_t>(element) / OC, o = static_cast<std::size_t>(element) % OC;
    const float *inp_n = &inputs[0][n * C], *weight_o = &inputs[1][o * C];
    constexpr std::size_t kSums = 8;  // that do not wait for each other
    std::array<double, kSums> products{}, squares{};
    const auto add = [&](std::size_t to, std::size_t c) {
        const double term = static_cast<double>(inp_n[c]) * static_cast<double>(weight_o[c]);
        products[to] += term;
        squares[to] += term * term;
    };
    std::size_t c = 0;
    for (; c + kSums <= C; c += kSums) {
        for (std::size_t i = 0; i < kSums; i++) { add(i, c + i); }
    }
    for (; c < C; c++) { add(0, c); }
    const bool has_bias = inputs.size() > 2;
    return of_product(std::accumulate(products.begin(), products.end(), 0.0),
                      std::accumulate(squares.begin(), squares.end(), 0.0),
                      has_bias ? static_cast<double>(inputs[2][o]) : 0.0, static_cast<int>(C) + (has_bias ? 1 : 0));
}

std::pair<double, double> gelu_of(double x, double floor) {
    const double root = std::sqrt(2 / std::numbers::pi), tanh = std::tanh(root * (x + 0.044715 * x * x * x));
    const double slope = 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * root * (1 + 3 * 0.044715 * x * x);
    return {0.5 * x * (1 + tanh), std::abs(slope) * floor + kRounding * std::abs(x)};
}

Product::Product(const Sizes& sizes, const Values& inputs) : OC_(static_cast<std::size_t>(sizes["OC"])) {
    const int N = sizes["N"], C = sizes["C"], OC = sizes["OC"];
    const bool has_bias = inputs.size() > 2;
    const std::vector<double> inp = widened(inputs[0]), weight = widened(inputs[1]);
    values_ = checker::float64_product(inp, weight, N, C, OC);
    floor_ = checker::float64_product(squared(inp), squared(weight), N, C, OC);
    for (std::size_t i = 0; i < values_.size(); i++) {
        const double bias = has_bias ? static_cast<double>(inputs[2][i % OC_]) : 0.0;
        std::tie(values_[i], floor_[i]) = of_product(values_[i], floor_[i], bias, C + (has_bias ? 1 : 0));
    }
}

checker::Computed Product::then(const Then& op) const {
    return elementwise(values_.size(), OC_, [&](std::size_t i) { return op(values_[i], floor_[i]); });
}

}  // namespace cases
