// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

// Read: the tokens, the positions' rows, and those rows of wte that at least one of random tokens names.
Cost cost(const Sizes& d) {
    const double rows = d.number("B") * d.number("T"), Vp = d.number("Vp"), C = d.number("C");
    const double distinct = Vp * -std::expm1(rows * std::log1p(-1.0 / Vp));
    return {.bytes = kFloat * std::floor(rows + d.number("T") * C + distinct * C + rows * C), .flop = rows * C};
}

// A row: two floats read and one written for each channel; and its token, which each thread of a block of 256 may ask
// for.
std::vector<checker::Needed> needed(const Sizes& d) {
    const double row = 3 * kFloat * d["C"] + 256 * sizeof(int);
    return {{"bytes_asked", d.number("B") * d.number("T") * row}};
}

checker::Computed compute(const Sizes& d, const Values& inputs) {
    const auto C = static_cast<std::size_t>(d["C"]), T = static_cast<std::size_t>(d["T"]);
    checker::Computed computed;
    for (std::size_t row = 0; row < inputs[0].size(); row++) {
        const auto token = static_cast<std::size_t>(inputs[0][row]);
        float largest = 0;
        for (std::size_t c = 0; c < C; c++) {
            const double sum = static_cast<double>(inputs[1][token * C + c]) + inputs[2][row % T * C + c];
            computed.values.push_back(static_cast<float>(sum));
            largest = std::max(largest, std::abs(computed.values.back()));
        }
        computed.floor.push_back(0x1p-24F * largest);  // floors of reference/ops/encoder.py
    }
    return computed;
}

}  // namespace

const OpSpec encoder_spec{
    .name = "encoder",
    .shape = "B T C",
    .inputs = {{"tokens", "B T", integers_below("Vp")}, {"wte", "Vp/v C", normal()}, {"wpe", "max_T/t C", normal()}},
    .outputs = {{"out", "B T C"}},
    .defined = defines<encoder>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<encoder>()(at.f32("out"), at.i32("tokens"), at.f32("wte"), at.f32("wpe"), d["B"], d["T"],
                                    d["C"], ctx);
        },
    .cost = cost,
    .defaults = "Vp=50304 max_T=T",
    .rehearsal = "B=2 T=8 C=768 Vp=128",
    .bound = Bound::copy,
    .needed = needed,
    .compute = compute};

}  // namespace cases
