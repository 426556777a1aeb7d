// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/op_spec.h"

namespace cases {

const OpSpec attention_spec{
    .name = "attention",
    .shape = "B T C NH",
    .inputs = {{"qkv", "B T 3C/c", normal()}},
    .outputs = {{"lse", "B NH/h T"}, {"out", "B T C"}},
    .defined = defines<attention, attention_scratch_bytes>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<attention>()(at.f32("out"), at.f32("lse"), at.f32("qkv"), at.scratch("scratch"), d["B"],
                                      d["T"], d["C"], d["NH"], ctx);
        },
    .scratch_bytes =
        [](const Library& library, const Sizes& d) {
            return library.find<attention_scratch_bytes>()(d["B"], d["T"], d["C"], d["NH"]);
        },
    // Without a (T, T) matrix in memory. FLOP: the two products below the diagonal.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d["T"], C = d["C"];
        return {.bytes = kFloat * (4 * rows * C + rows * d["NH"]), .flop = 2 * rows * (d["T"] + 1) * C};
    },
    .rehearsal = "B=1 T=16 C=48 NH=12"};

}  // namespace cases
