// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>

#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

// Probabilities of which the loss is infinite, 0, or that of a number below the normal ones.
float extreme_prob(long row, long /*column*/, long /*columns*/, float drawn) {
    constexpr std::array kValues{0.0F, 1.0F, 1e-38F, 1e-45F};
    return row % 2 == 0 ? kValues[static_cast<std::size_t>(row / 2) % kValues.size()] : drawn;
}

}  // namespace

const OpSpec crossentropy_spec{
    .name = "crossentropy",
    .shape = "N Vp",
    .case_shape = "N V Vp",
    .inputs = {{"probs", "N Vp/v", uniform(1e-6F, 1.0F)},
               {.name = "targets", .dims = "N", .draw = integers_below("Vp"), .element = checker::Element::i32}},
    .outputs = {{"losses", "N"}},
    .defined = defines<crossentropy>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<crossentropy>()(at.f32("losses"), at.f32("probs"), at.i32("targets"), d["N"], d["Vp"], ctx);
        },
    // One probability per row. FLOP: log and sign.
    .cost = [](const Sizes& d) -> Cost { return {.bytes = 3 * kFloat * d["N"], .flop = 2.0 * d["N"]}; },
    .dry_run = "N=16 Vp=256",
    .compute = [](const Sizes& d, const Values& inputs) -> std::vector<checker::Computed> {
        const auto Vp = static_cast<std::size_t>(d["Vp"]);
        return {elementwise(inputs[1].size(), 1, [&](std::size_t n) {
            const double loss = -std::log(inputs[0][n * Vp + static_cast<std::size_t>(inputs[1][n])]);
            return std::pair(loss, kRounding * std::abs(loss));  // floors of reference/ops/crossentropy.py
        })};
    },
    .drawn_cases = {{"long", "N=3 Vp=50304"},
                    {"rows", "N=70000 Vp=4"},  // more than a grid has in y
                    {"extreme", "N=8 Vp=3", {{"probs", changed(uniform(1e-6F, 1.0F), extreme_prob)}}}},
    .turns = "N=4 Vp=8"};

}  // namespace cases
