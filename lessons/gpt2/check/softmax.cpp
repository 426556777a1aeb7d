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
    .dry_run = "N=16 V=250 Vp=256",
    .compute = [](const Sizes& d, const Values& inputs) -> std::vector<checker::Computed> {
        checker::Computed probs{.values = std::vector<float>(inputs[0].size()), .floor = {}};
        for (std::size_t n = 0; n < static_cast<std::size_t>(d["N"]); n++) {
            const SoftmaxRow row = row_of_logits(inputs, n, d);
            std::ranges::transform(row.probs, &probs.values[n * static_cast<std::size_t>(d["Vp"])],
                                   [](double p) { return static_cast<float>(p); });
            probs.floor.push_back(static_cast<float>(row.of_probs));
        }
        return {std::move(probs)};
    },
    .element =
        [](const Sizes& d, std::size_t /*output*/, long element, const Values& inputs) {
            const SoftmaxRow row = row_of_logits(inputs, static_cast<std::size_t>(element / d["Vp"]), d);
            return std::pair(row.probs[static_cast<std::size_t>(element % d["Vp"])], row.of_probs);
        },
    .drawn_cases = cases_of_logits(),
    .huge_cases = {{"huge_inputs", "N=36000000 V=75 Vp=75"}},
    .turns = "N=4 V=8 Vp=16"};

}  // namespace cases
