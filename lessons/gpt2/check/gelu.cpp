// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/op_spec.h"

namespace cases {

const OpSpec gelu_spec{
    .name = "gelu",
    .shape = "N",
    .case_shape = "B T C",
    .inputs = {{"inp", "N/i", normal(2.0F)}},
    .outputs = {{"out", "N/i"}},
    .defined = defines<gelu>,
    .run = [](const Library& library, const Buffers& at, const Sizes& d,
              Context& ctx) { library.find<gelu>()(at.f32("out"), at.f32("inp"), d["N"], ctx); },
    // FLOP: x³ 2, · 0.044715, + x, · sqrt(2/pi), tanh, + 1, · x, · 0.5
    .cost = [](const Sizes& d) -> Cost { return {.bytes = 2 * kFloat * d["N"], .flop = 9.0 * d["N"]}; },
    .rehearsal = "N=49152",
    .bound = Bound::copy,
    .needed = [](const Sizes& d) -> std::vector<checker::Needed> {
        return {{"bytes_asked", 2 * kFloat * d["N"]}};
    }};

}  // namespace cases
