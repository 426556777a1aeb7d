// SPDX-License-Identifier: MIT
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
    .rehearsal = "N=16 V=250 Vp=256"};

}  // namespace cases
