// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <limits>

#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

// lse and att, as reference/ops/causal_softmax.py has them.
std::vector<checker::Computed> compute_causal_softmax(const Sizes& d, const Values& inputs) {
    const auto T = static_cast<std::size_t>(d["T"]);
    const double scale = d.number("scale");
    checker::Computed lse, att{.values = std::vector<float>(inputs[0].size()), .floor = {}};
    for (std::size_t row = 0; row * T < inputs[0].size(); row++) {
        std::vector<double> scaled;
        for (const double score : inputs[0].subspan(row * T, row % T + 1)) { scaled.push_back(scale * score); }
        const SoftmaxRow of_row = softmax_row(scaled, of_exponents(scaled));
        std::ranges::transform(of_row.probs, &att.values[row * T], [](double p) { return static_cast<float>(p); });
        att.floor.push_back(static_cast<float>(of_row.of_probs));
        lse.values.push_back(static_cast<float>(of_row.lse));
        lse.floor.push_back(static_cast<float>(of_row.of_lse));
    }
    return {std::move(lse), std::move(att)};
}

// Scores of later tokens are NaN, infinite or 1e30: what looks at them gives them away in every row.
float later_or(float seen, long row, long column, long columns) {
    constexpr std::array kLater{1e30F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
    return column <= row % columns ? seen : kLater[static_cast<std::size_t>(column % 3)];
}

float later_score(long row, long column, long columns, float drawn) {
    return later_or(drawn, row, column, columns);
}

float extreme_score(long row, long column, long columns, float drawn) {
    constexpr float kScale = 0.125F;  // the default of the op
    return later_or(extreme_logit(row, column, columns, drawn * kScale) / kScale, row, column, columns);
}

}  // namespace

const OpSpec causal_softmax_spec{
    .name = "causal_softmax",
    .shape = "B NH T",
    .case_shape = "B T C NH",
    .inputs = {{"scores", "B NH/h T T/s", normal(8.0F)}},
    .outputs = {{"lse", "B NH/h T"}, {.name = "att", .dims = "B NH/h T T/s", .exact_zeros = true}},
    .defined = defines<causal_softmax>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<causal_softmax>()(at.f32("att"), at.f32("lse"), at.f32("scores"),
                                           static_cast<float>(d.number("scale")), d["B"], d["NH"], d["T"], ctx);
        },
    // Half of each square of scores is masked and not read; all of att is written. FLOP: scale, maximum, subtraction,
    // exp, sum, and a subtraction and an exp for att.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d["NH"] * d["T"], scores = rows * (d["T"] + 1.0) / 2;
        return {.bytes = kFloat * (scores + rows * d["T"] + rows), .flop = 7 * scores};
    },
    .defaults = "scale=0.125",  // 1 / sqrt(HS) of GPT-2
    .dry_run = "B=1 NH=12 T=16",
    .compute = compute_causal_softmax,
    .drawn_cases = {{"later", "B=2 NH=3 T=21", {{"scores", changed(normal(8.0F), later_score)}}},
                    {"extreme", "B=1 NH=2 T=40", {{"scores", changed(normal(8.0F), extreme_score)}}},
                    {"long", "B=1 NH=1 T=1100", {{"scores", changed(normal(8.0F), extreme_score)}}}},
    .huge_cases = {{"huge_inputs", "B=55000 NH=12 T=64"}},
    .turns = "B=1 NH=2 T=5"};

}  // namespace cases
