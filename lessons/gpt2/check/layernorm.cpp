// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

// mean, rstd, out, as reference/ops/layernorm.py has them.
std::vector<checker::Computed> compute(const Sizes& d, const Values& inputs) {
    constexpr double kEps = 1e-5;
    const auto C = static_cast<std::size_t>(d["C"]);
    const double channels = d["C"];
    std::vector<checker::Computed> computed(3);
    for (std::size_t row = 0; row < inputs[0].size(); row += C) {
        double sum = 0, squares = 0, variance = 0, fourth = 0;
        for (const double x : inputs[0].subspan(row, C)) {
            sum += x;
            squares += x * x;
        }
        const double mean = sum / channels;
        for (const double x : inputs[0].subspan(row, C)) {
            const double square = (x - mean) * (x - mean);
            variance += square / channels;
            fourth += square * square;
        }
        const double rstd = 1 / std::sqrt(variance + kEps);
        const double of_mean = sum_error(squares, sum, channels) / channels + kRounding * std::abs(mean);
        const double of_variance = sum_error(fourth, variance * channels, channels) / channels +
                                   kRounding * std::abs(mean) * std::sqrt(2 * variance / channels);
        const double of_rstd = rstd * (0.5 * of_variance * rstd * rstd + kRounding);
        double of_out = 0;
        for (std::size_t c = 0; c < C; c++) {
            const double weight = inputs[1][c], scaled = (inputs[0][row + c] - mean) * rstd * weight;
            const double out = scaled + inputs[2][c];
            of_out =
                std::max(of_out, std::abs(weight * rstd) * of_mean +
                                     std::abs(scaled) * (of_rstd / rstd + 2 * kRounding) + kRounding * std::abs(out));
            computed[2].values.push_back(static_cast<float>(out));
        }
        computed[0].values.push_back(static_cast<float>(mean));
        computed[0].floor.push_back(static_cast<float>(of_mean));
        computed[1].values.push_back(static_cast<float>(rstd));
        computed[1].floor.push_back(static_cast<float>(of_rstd));
        computed[2].floor.push_back(static_cast<float>(of_out));
    }
    return computed;
}

}  // namespace

const OpSpec layernorm_spec{
    .name = "layernorm",
    .shape = "B T C",
    .inputs = {{"inp", "B T C", normal()}, {"weight", "C", normal()}, {"bias", "C", normal()}},
    .outputs = {{"mean", "B T"}, {"rstd", "B T"}, {"out", "B T C"}},
    .defined = defines<layernorm>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<layernorm>()(at.f32("out"), at.f32("mean"), at.f32("rstd"), at.f32("inp"), at.f32("weight"),
                                      at.f32("bias"), d["B"], d["T"], d["C"], ctx);
        },
    // As if a row were read once. FLOP: mean 1, variance 3, (x - mean) * rstd * weight + bias 4.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d.number("T"), C = d["C"];
        return {.bytes = kFloat * (2 * rows * C + 2 * rows + 2 * C), .flop = 8 * rows * C};
    },
    .rehearsal = "B=2 T=8 C=768",
    .compute = compute,
    .drawn_cases = {{"long", "B=1 T=2 C=1600"}, {"rows", "B=2 T=35000 C=2"}}};  // more rows than a grid has in y

}  // namespace cases
