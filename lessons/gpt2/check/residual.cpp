// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>
#include <limits>

#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

float extreme_summand(long /*row*/, long column, long /*columns*/, float drawn) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr std::array kValues{kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e30F, -1e-45F, -0.0F};
    return column % 2 == 0 ? kValues[static_cast<std::size_t>(column / 2) % kValues.size()] : drawn;
}

}  // namespace

const OpSpec residual_spec{
    .name = "residual",
    .shape = "N",
    .case_shape = "B T C",
    .inputs = {{"inp1", "N/i", normal()}, {"inp2", "N/i", normal()}},
    .outputs = {{"out", "N/i"}},
    .defined = defines<residual>,
    .run = [](const Library& library, const Buffers& at, const Sizes& d,
              Context& ctx) { library.find<residual>()(at.f32("out"), at.f32("inp1"), at.f32("inp2"), d["N"], ctx); },
    .cost = [](const Sizes& d) -> Cost { return {.bytes = 3 * kFloat * d["N"], .flop = d.number("N")}; },
    .dry_run = "N=12288",
    .bound = Bound::copy,
    .needed = [](const Sizes& d) -> std::vector<checker::Needed> {
        return {{"bytes_asked", 3 * kFloat * d["N"]}};
    },
    .compute = [](const Sizes& /*d*/, const Values& inputs) -> std::vector<checker::Computed> {
        return {elementwise(inputs[0].size(), 1, [&](std::size_t i) {
            const double sum = static_cast<double>(inputs[0][i]) + static_cast<double>(inputs[1][i]);
            return std::pair(sum, kRounding * std::abs(sum));  // floors of reference/ops/residual.py
        })};
    },
    .drawn_cases = {{"few", "N=3"},
                    {"extreme", "N=64", {{"inp1", changed(normal(), extreme_summand)}}},
                    {"many", "N=1100003"}},
    .huge_cases = {{"huge", "N=2147483647"}},
    .turns = "N=40"};

}  // namespace cases
