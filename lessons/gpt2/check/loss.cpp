// SPDX-License-Identifier: MIT
#include <cmath>
#include <utility>

#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

using ValueAndFloor = std::pair<double, double>;

// Row n's log-sum-exp and loss: floors of reference/ops/loss.py.
std::pair<ValueAndFloor, ValueAndFloor> lse_and_loss(const Values& inputs, std::size_t n, const Sizes& d) {
    const SoftmaxRow row = row_of_logits(inputs, n, d);
    const auto target = static_cast<std::size_t>(d["Vp"]) * n + static_cast<std::size_t>(inputs[1][n]);
    const double loss = row.lse - static_cast<double>(inputs[0][target]);
    return {{row.lse, row.of_lse}, {loss, row.of_lse + kRounding * std::abs(loss)}};
}

}  // namespace

const OpSpec loss_spec{
    .name = "loss",
    .shape = "N V Vp",
    .inputs = {{"logits", "N Vp/v", normal(3.0F)},
               {.name = "targets", .dims = "N", .draw = integers_below("V"), .element = checker::Element::i32}},
    .outputs = {{"lse", "N"}, {"losses", "N"}},
    .defined = defines<loss>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<loss>()(at.f32("losses"), at.f32("lse"), at.f32("logits"), at.i32("targets"), d["N"], d["V"],
                                 d["Vp"], ctx);
        },
    // Columns V and beyond are not read. FLOP: maximum, subtraction, exp and sum, and a row's log, sum and difference.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d["N"], elements = rows * d["V"];
        return {.bytes = kFloat * (elements + 3 * rows), .flop = 4 * elements + 3 * rows};
    },
    .dry_run = "N=16 V=250 Vp=256",
    .compute = [](const Sizes& d, const Values& inputs) -> std::vector<checker::Computed> {
        const std::size_t rows = inputs[1].size();
        return {elementwise(rows, 1, [&](std::size_t n) { return lse_and_loss(inputs, n, d).first; }),
                elementwise(rows, 1, [&](std::size_t n) { return lse_and_loss(inputs, n, d).second; })};
    },
    .element =
        [](const Sizes& d, std::size_t output, long element, const Values& inputs) {
            const auto [lse, loss] = lse_and_loss(inputs, static_cast<std::size_t>(element), d);
            return output == 0 ? lse : loss;
        },
    .drawn_cases = cases_of_logits(),
    .huge_cases = {{"huge_inputs", "N=36000000 V=75 Vp=75"}},
    .turns = "N=4 V=8 Vp=16"};

}  // namespace cases
