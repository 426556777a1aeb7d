// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lessons/gpt2/check/floors.h"
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

std::pair<double, double> element(const Sizes& d, std::size_t /*output*/, long element, const Values& inputs) {
    const long C = d["C"], T = d["T"], row = element / C, c = element % C;
    const auto token = static_cast<long>(inputs[0][static_cast<std::size_t>(row)]);
    const double sum = static_cast<double>(inputs[1][static_cast<std::size_t>(token * C + c)]) +
                       static_cast<double>(inputs[2][static_cast<std::size_t>(row % T * C + c)]);
    return {sum, kRounding * std::abs(sum)};  // floors of reference/ops/encoder.py
}

std::vector<checker::Computed> compute_encoder(const Sizes& d, const Values& inputs) {
    const auto C = static_cast<std::size_t>(d["C"]);
    return {elementwise(inputs[0].size() * C, C,
                        [&](std::size_t i) { return element(d, 0, static_cast<long>(i), inputs); })};
}

// The first and the last row of wte in turn.
checker::Input first_or_last(const std::string& name, const std::string& dims, const Sizes& sizes) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(sizes["B"] * sizes["T"]));
    for (std::size_t i = 1; i < tokens.size(); i += 2) { tokens[i] = sizes["Vp"] - 1; }
    checker::Input input = checker::integers(name, dims, sizes.axes(dims), sizes["Vp"]);
    input.fill = [tokens](std::span<std::byte> bytes, std::uint64_t /*seed*/) {
        std::memcpy(bytes.data(), tokens.data(), bytes.size());
    };
    return input;
}

}  // namespace

const OpSpec encoder_spec{
    .name = "encoder",
    .shape = "B T C",
    .inputs = {{.name = "tokens", .dims = "B T", .draw = integers_below("Vp"), .element = checker::Element::i32},
               {"wte", "Vp/v C", normal()},
               {"wpe", "max_T/t C", normal()}},
    .outputs = {{"out", "B T C"}},
    .defined = defines<encoder>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<encoder>()(at.f32("out"), at.i32("tokens"), at.f32("wte"), at.f32("wpe"), d["B"], d["T"],
                                    d["C"], ctx);
        },
    .cost = cost,
    .defaults = "Vp=50304 max_T=T",
    .dry_run = "B=2 T=8 C=768 Vp=128",
    .bound = Bound::copy,
    .needed = needed,
    .compute = compute_encoder,
    .element = element,
    .drawn_cases = {{"long", "B=2 T=1100 C=3"},  // positions and tokens beyond 1,024
                    {"ends", "B=2 T=5 C=4 Vp=7 max_T=9", {{"tokens", first_or_last}}}},
    .turns = "B=2 T=3 C=8"};

}  // namespace cases
