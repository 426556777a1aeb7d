// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {

const OpSpec matmul_gelu_spec{
    .name = "matmul_gelu",
    .shape = "N C OC",
    .inputs = {{.name = "inp", .dims = "N C", .draw = normal(), .factor = true},
               {.name = "weight", .dims = "OC/o C", .draw = normal(), .factor = true},
               {.name = "bias", .dims = "OC/o", .draw = normal()}},
    .outputs = {{"out", "N OC/o"}},
    .defined = defines<matmul_gelu>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<matmul_gelu>()(at.f32("out"), at.f32("inp"), at.f32("weight"), at.f32("bias"), d["N"], d["C"],
                                        d["OC"], ctx);
        },
    // FLOP: those of the product alone, as linear_gelu's.
    .cost = [](const Sizes& d) -> Cost {
        const double N = d["N"], C = d["C"], OC = d["OC"];
        return {.bytes = kFloat * (N * C + OC * C + OC + N * OC), .flop = 2 * N * C * OC};
    },
    .dry_run = "N=144 C=144 OC=144",
    .bound = Bound::arithmetic,
    .summed = "C",
    .terms = [](const Sizes& d) { return d.number("C"); },
    .compute = [](const Sizes& d, const Values& inputs) -> std::vector<checker::Computed> {
        return {Product(d, inputs).then(gelu_of)};
    },
    .element =
        [](const Sizes& d, std::size_t /*output*/, long element, const Values& inputs) {
            const auto [x, floor] = product_element(d, element, inputs);
            return gelu_of(x, floor);
        },
    .drawn_cases = {{"nan", "N=5 C=7 OC=8", {{"inp", nan_in_row_1()}, {"weight", nan_in_row_1()}}}},
    .huge_cases = {{"huge_inputs", "N=168000000 C=16 OC=1"}, {"huge_weight", "N=1 C=16 OC=168000000"}},
    .turns = "N=8 C=16 OC=24",
};

}  // namespace cases
