// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {

const OpSpec softmax_spec{
    .name = "softmax",
    .shape = "N V Vp",
    .inputs = {{"logits", "N Vp/v", normal(3.0F)}},
    .outputs = {{"probs", "N Vp/v", "V"}},
    .defined = defines<softmax>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<softmax>()(at.f32("probs"), at.f32("logits"), d["N"], d["V"], d["Vp"], ctx);
        },
    // Columns V and beyond are neither read nor written. FLOP: maximum, subtraction, exp, sum, division.
    .cost = [](const Sizes& d) -> Cost {
        const double elements = d.number("N") * d["V"];
        return {.bytes = 2 * kFloat * elements, .flop = 5 * elements};
    },
    .rehearsal = "N=16 V=250 Vp=256",
    .compute = [](const Sizes& d, const Values& inputs) -> std::vector<checker::Computed> {
        const auto V = static_cast<std::size_t>(d["V"]), Vp = static_cast<std::size_t>(d["Vp"]);
        checker::Computed probs{.values = std::vector<float>(inputs[0].size()), .floor = {}};
        for (std::size_t row = 0; row < inputs[0].size(); row += Vp) {
            const std::vector<double> logits(&inputs[0][row], &inputs[0][row] + V);
            const SoftmaxRow of_row = softmax_row(logits, of_exponents(logits));
            std::ranges::transform(of_row.probs, &probs.values[row], [](double p) { return static_cast<float>(p); });
            probs.floor.push_back(static_cast<float>(of_row.of_probs));
        }
        return {std::move(probs)};
    },
    .drawn_cases = {{"long", "N=2 V=50257 Vp=50304"}, {"rows", "N=70000 V=3 Vp=4"}}};  // more than a grid has in y

}  // namespace cases
