// SPDX-License-Identifier: MIT
#include "checker/worker/device_backend.h"
#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {

const OpSpec linear_spec{
    .name = "linear",
    .shape = "N C OC",
    .inputs = {{.name = "inp", .dims = "N C", .draw = normal(), .factor = true},
               {.name = "weight", .dims = "OC/o C", .draw = normal(), .factor = true},
               {.name = "bias", .dims = "OC/o", .draw = normal()}},
    .outputs = {{"out", "N OC/o"}},
    .defined = defines<linear>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<linear>()(at.f32("out"), at.f32("inp"), at.f32("weight"), at.f32("bias"), d["N"], d["C"],
                                   d["OC"], ctx);
        },
    .cost = [](const Sizes& d) -> Cost {
        const double N = d["N"], C = d["C"], OC = d["OC"];
        return {.bytes = kFloat * (N * C + OC * C + OC + N * OC), .flop = 2 * N * C * OC};
    },
    .dry_run = "N=144 C=144 OC=144",
    .bound = Bound::arithmetic,
    .summed = "C",
    .terms = [](const Sizes& d) { return d.number("C"); },
    .compute = [](const Sizes& d, const Values& inputs) -> std::vector<checker::Computed> {
        return {Product(d, inputs).out()};
    },
    .element = [](const Sizes& d, std::size_t /*output*/, long element,
                  const Values& inputs) { return product_element(d, element, inputs); },
    // The product alone.
    .library = [](const Sizes& d, const std::string& precision) -> std::optional<checker::Vendor> {
        return checker::device_backend().matmul_library(d["N"], d["C"], d["OC"], precision);
    },
    .drawn_cases = {{"halfway", "N=9 C=64 OC=24", {{"inp", halfway_in_bf16()}, {"weight", halfway_in_bf16()}}},
                    {"nan", "N=5 C=7 OC=8", {{"inp", nan_in_row_1()}, {"weight", nan_in_row_1()}}}},
    .huge_cases = {{"huge_inputs", "N=168000000 C=16 OC=1"}, {"huge_weight", "N=1 C=16 OC=168000000"}},
    .turns = "N=8 C=64 OC=24",
};

}  // namespace cases
