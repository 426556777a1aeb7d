// SPDX-License-Identifier: MIT
#include <cmath>
#include <numbers>

#include "lessons/gpt2/check/floors.h"
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
    .dry_run = "N=49152",
    .bound = Bound::copy,
    .needed = [](const Sizes& d) -> std::vector<checker::Needed> {
        return {{"bytes_asked", 2 * kFloat * d["N"]}};
    },
    .compute = [](const Sizes& /*d*/, const Values& inputs) -> std::vector<checker::Computed> {
        return {elementwise(inputs[0].size(), inputs[0].size(), [&](std::size_t i) {
            const double x = inputs[0][i], u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
            return std::pair(0.5 * x * (1 + std::tanh(u)), kRounding * std::abs(x));  // of reference/ops/gelu.py
        })};
    },
    .drawn_cases = {{"far", "N=257", {{"inp", ramp(64.0F)}}},
                    {"tiny", "N=257", {{"inp", ramp(1e-38F)}}},
                    {"vast", "N=257", {{"inp", ramp(1e20F)}}},
                    {"few", "N=3"},
                    {"many", "N=1100003"}},
    .huge_cases = {{"huge", "N=2147483647"}},
    .turns = "N=40"};

}  // namespace cases
