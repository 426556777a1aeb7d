// SPDX-License-Identifier: MIT
#include <algorithm>

#include "checker/cases/blas.h"
#include "checker/worker/device_backend.h"
#include "lessons/gpt2/check/cases.h"
#include "lessons/gpt2/check/floors.h"

namespace cases {
namespace {

// out = inp weight^T + bias in float64 from the float32 inputs, rounded to float32 (N, out_stride), and each row's floor.
std::vector<checker::Computed> compute_matmul(const Sizes& d, const Values& inputs) {
    checker::Computed out = Product(d, inputs).out();
    const auto OC = static_cast<std::size_t>(d["OC"]), stride = static_cast<std::size_t>(d["out_stride"]);
    if (stride != OC) {
        std::vector<float> apart(out.floor.size() * stride);
        for (std::size_t n = 0; n < out.floor.size(); n++) { std::copy_n(&out.values[n * OC], OC, &apart[n * stride]); }
        out.values = std::move(apart);
    }
    return {std::move(out)};
}

// The device's own; on the host OpenBLAS.
std::optional<checker::Vendor> library(const Sizes& d, const std::string& precision) {
    if (!checker::device_backend().is_host()) {
        return checker::device_backend().matmul_library(d["N"], d["C"], d["OC"], precision);
    }
    return checker::Vendor{"OpenBLAS", [=](const Buffers& at) {
                               checker::blas_matmul(at.f32("out"), at.f32("inp"), at.f32("weight"), at.f32("bias"),
                                                    d["N"], d["C"], d["OC"], d["out_stride"]);
                           }};
}

}  // namespace

const OpSpec matmul_spec{
    .name = "matmul",
    .shape = "N C OC",
    .case_shape = "B T C",
    .inputs = {{.name = "inp", .dims = "N C", .draw = normal(), .factor = true},
               {.name = "weight", .dims = "OC/o C", .draw = normal(), .factor = true},
               {.name = "bias", .dims = "OC/o", .draw = normal()}},
    .outputs = {{"out", "N out_stride/o", "OC"}},
    .defined = defines<matmul>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<matmul>()(at.f32("out"), at.f32("inp"), at.f32("weight"), at.f32("bias"), d["N"], d["C"],
                                   d["OC"], d["out_stride"], ctx);
        },
    .cost = [](const Sizes& d) -> Cost {
        const double N = d["N"], C = d["C"], OC = d["OC"];
        return {.bytes = kFloat * (N * C + OC * C + OC + N * OC), .flop = 2 * N * C * OC};
    },
    .defaults = "out_stride=OC",
    .dry_run = "N=144 C=144 OC=144",  // more than one tile of lesson 09, and a part of one
    .bound = Bound::arithmetic,
    .summed = "C",
    .terms = [](const Sizes& d) { return d.number("C"); },
    .compute = compute_matmul,
    .element =
        [](const Sizes& d, std::size_t /*output*/, long element, const Values& inputs) {
            const long stride = d["out_stride"];
            return product_element(d, element / stride * d["OC"] + element % stride, inputs);
        },
    .library = library,
    .drawn_cases = {{"long", "N=2 C=3072 OC=3"},                    // GPT-2's longest sum
                    {"tall", "N=2177 C=1 OC=3"},                    // more rows of tiles than small models have
                    {"odd_stride", "N=5 C=8 OC=12 out_stride=13"},  // whole float4s in rows that begin anywhere
                    {"halfway", "N=9 C=64 OC=20", {{"inp", halfway_in_bf16()}, {"weight", halfway_in_bf16()}}},
                    {"nan", "N=5 C=7 OC=8", {{"inp", nan_in_row_1()}, {"weight", nan_in_row_1()}}}},
    .huge_cases = {{"huge_inputs", "N=168000000 C=16 OC=1"}},
    .turns = "N=8 C=16 OC=24"};

void add_matmul_shapes(OpCases& matmul, const std::vector<checker::Needed>& of_square) {
    const Sizes square{{"N", kSquare}, {"C", kSquare}, {"OC", kSquare}};
    matmul.add_drawn("square", square.text("N C OC")).calls.back().needed = of_square;
    matmul.add_drawn("one", "N=1 C=1 OC=1");
    matmul.add_drawn("ragged", "N=17 C=33 OC=129");
    // Whole tiles in rows with padding, with a bias and without.
    const Sizes whole = Sizes::of("N=128 C=32 OC=128 out_stride=132");
    matmul.add_drawn("whole", whole.text("N C OC out_stride")).calls.push_back(matmul.drawn(whole, {"bias"}));
    matmul.add_drawn("one_channel", "N=65 C=1 OC=33");
    matmul.add_by_blocks("vocabulary", "N=2 C=33 OC=50257");
}

void add_huge_matmul(OpCases& matmul) {
    matmul.add_huge("N=42735 C=1 OC=50257");  // 2,147,732,895 outputs
}

}  // namespace cases
