// SPDX-License-Identifier: MIT
#include <vector>

#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

std::vector<checker::Computed> compute_layernorm(const Sizes& d, const Values& inputs) {
    const std::vector<double> inp(inputs[0].begin(), inputs[0].end());
    return layernorm_of(inp, static_cast<std::size_t>(d["C"]), inputs[1], inputs[2], 0);
}

}  // namespace

const OpSpec layernorm_spec{
    .name = "layernorm",
    .shape = "B T C",
    .inputs = {{"inp", "B T C", normal()}, {"weight", "C", normal()}, {"bias", "C", normal()}},
    .outputs = {{"mean", "B T"}, {"rstd", "B T"}, {"out", "B T C"}},
    .defined = defines<layernorm>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<layernorm>()(at.f32("out"), at.f32("mean"), at.f32("rstd"), at.f32("inp"), at.f32("weight"),
                                      at.f32("bias"), d["B"], d["T"], d["C"], ctx);
        },
    // As if a row were read once. FLOP: mean 1, variance 3, (x - mean) * rstd * weight + bias 4.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d.number("T"), C = d["C"];
        return {.bytes = kFloat * (2 * rows * C + 2 * rows + 2 * C), .flop = 8 * rows * C};
    },
    .dry_run = "B=2 T=8 C=768",
    .compute = compute_layernorm,
    .element =
        [](const Sizes& d, std::size_t output, long element, const Values& inputs) {
            const auto C = static_cast<std::size_t>(d["C"]), i = static_cast<std::size_t>(element);
            const bool one_per_row = output < 2;  // mean and rstd
            const std::span<const float> inp_n = inputs[0].subspan(one_per_row ? i * C : i / C * C, C);
            const checker::Computed of_row =
                layernorm_of(std::vector<double>(inp_n.begin(), inp_n.end()), C, inputs[1], inputs[2], 0).at(output);
            return std::pair<double, double>(of_row.values[one_per_row ? 0 : i % C], of_row.floor.front());
        },
    .drawn_cases = {{"long", "B=1 T=2 C=1600"},
                    {"wide", "B=1 T=2 C=12800"},  // a row is more than 48 KB
                    {"extreme", "B=1 T=7 C=2080", {{"inp", changed(normal(), extreme_row)}}},
                    {"one", "B=1 T=1 C=1"},  // a row of variance 0
                    {"many", "B=2 T=500 C=2"},
                    // Twice as many as a grid has in y: of one that is cut there, most is written by no block.
                    {.name = "rows", .shape = "B=2 T=70000 C=2", .by_blocks = true}},
    .huge_cases = {{"huge_inputs", "B=33000 T=1024 C=79"}},
    .turns = "B=2 T=3 C=8"};

}  // namespace cases
