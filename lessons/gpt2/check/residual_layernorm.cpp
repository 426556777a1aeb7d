// SPDX-License-Identifier: MIT
#include <cmath>
#include <vector>

#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

// The sums, then what layernorm gives of them.
std::vector<checker::Computed> compute_residual_layernorm(const Sizes& d, const Values& inputs) {
    const auto C = static_cast<std::size_t>(d["C"]);
    std::vector<double> sums;
    for (std::size_t i = 0; i < inputs[0].size(); i++) {
        sums.push_back(static_cast<double>(inputs[0][i]) + static_cast<double>(inputs[1][i]));
    }
    std::vector<checker::Computed> computed = layernorm_of(sums, C, inputs[2], inputs[3], kRounding);
    computed.insert(computed.begin(), elementwise(sums.size(), C, [&](std::size_t i) {
                        return std::pair(sums[i], kRounding * std::abs(sums[i]));
                    }));
    return computed;
}

}  // namespace

const OpSpec residual_layernorm_spec{
    .name = "residual_layernorm",
    .shape = "B T C",
    .inputs = {{"inp1", "B T C", normal()},
               {"inp2", "B T C", normal()},
               {"weight", "C", normal()},
               {"bias", "C", normal()}},
    .outputs = {{"residual", "B T C"}, {"mean", "B T"}, {"rstd", "B T"}, {"out", "B T C"}},
    .defined = defines<residual_layernorm>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<residual_layernorm>()(at.f32("residual"), at.f32("out"), at.f32("mean"), at.f32("rstd"),
                                               at.f32("inp1"), at.f32("inp2"), at.f32("weight"), at.f32("bias"), d["B"],
                                               d["T"], d["C"], ctx);
        },
    // Two tensors read and two written, each once. FLOP: the sum, and layernorm's 8.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d.number("T"), C = d["C"];
        return {.bytes = kFloat * (4 * rows * C + 2 * rows + 2 * C), .flop = 9 * rows * C};
    },
    .dry_run = "B=2 T=8 C=768",
    .bound = Bound::copy,
    .compute = compute_residual_layernorm,
    .drawn_cases = {{"long", "B=1 T=2 C=1600"},
                    {"wide", "B=1 T=2 C=12800"},  // a row is more than 48 KB
                    {"one", "B=1 T=1 C=1"},       // a row of variance 0
                    {"extreme",
                     "B=1 T=7 C=2080",
                     {{"inp1", changed(normal(), extreme_row)}, {"inp2", changed(normal(), extreme_row)}}}},
    .huge_cases = {{"huge_inputs", "B=33000 T=1024 C=79"}},
    .turns = "B=2 T=3 C=8"};

}  // namespace cases
