// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/op_spec.h"

namespace cases {

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
    .rehearsal = "B=1 NH=12 T=16"};

}  // namespace cases
