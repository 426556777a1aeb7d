// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>
#include <limits>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

using checker::Call;

// Rows of which a warp, a block of few or of many threads, and no block's registers hold one.
constexpr int kColumns[] = {75, 3001, 50257};

// What element v of row n is, where v < V; `x` is a number from a normal distribution.
using Element = float (*)(int n, int v, int V, float x);
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One logit so large that each other one's exponential is 0: in each place of a float4, and in the last column.
float hot(int n, int v, int V, float x) {
    return v == (n < 4 ? V / 8 * 4 + n : V - 1) ? 1e4F : x;
}
float equal(int n, int /*v*/, int /*V*/, float /*x*/) {
    return static_cast<float>(n) - 1;
}
// exp of any of them is 0 in fp32, and so is their sum. Row 1 lies below -10,000, which is not -infinity either.
float far_below_zero(int n, int /*v*/, int /*V*/, float x) {
    return x - (n == 0 ? 1e3F : 1e5F);
}
// All but every seventh column are masked.
float masked(int n, int v, int V, float x) {
    return v % 7 == n || v == V - 1 ? x : -kInfinity;
}

// Logits whose padding holds what no sum survives: NaN in even rows, 1e30 in odd ones.
Draw rows_of(Element element) {
    return [=](const std::string& name, const std::string& dims, const Sizes& sizes) {
        checker::Input input = normal()(name, dims, sizes);
        input.fill = [=, drawn = input.fill](std::span<std::byte> bytes, std::uint64_t seed) {
            drawn(bytes, seed);
            const int N = sizes["N"], V = sizes["V"], Vp = sizes["Vp"];
            for (int n = 0; n < N; n++) {
                const std::span row = bytes.subspan(static_cast<std::size_t>(n) * Vp * sizeof(float));
                for (int v = 0; v < Vp; v++) {
                    float x = 0;
                    std::byte* const at = &row[v * sizeof(float)];
                    std::memcpy(&x, at, sizeof(x));
                    x = v < V ? element(n, v, V, x) : n % 2 == 0 ? std::nanf("") : 1e30F;
                    std::memcpy(at, &x, sizeof(x));
                }
            }
        };
        return input;
    };
}

// The same rows of every length, at a stride that leaves padding.
void add_rows(OpCases& softmax, const std::string& name, int N, Element element) {
    checker::Case& rows = softmax.op().add_case(name, Sizes{{"N", N}}.text("N") + " V=75, 3001 and 50257");
    for (const int V : kColumns) {
        const Sizes sizes{{"N", N}, {"V", V}, {"Vp", V + 3}};
        Call& call = rows.calls.emplace_back(softmax.drawn(sizes, {}, {{"logits", rows_of(element)}}));
        call.where = sizes.text("V Vp");
    }
}

// Logits that start 12 bytes after a multiple of 16, and probs that start at one: with an odd stride there is a row of
// each distance from such a multiple, in either tensor and in both.
void add_apart(OpCases& softmax) {
    static constexpr int kFloats = 3;
    const Sizes sizes{{"N", 5}, {"V", 999}, {"Vp", 1001}};
    Call call = softmax.drawn(sizes);
    checker::Input& logits = call.inputs.front();
    const long elements = logits.spec.dims.elements();
    logits = checker::normal("logits", "3+N*Vp/i", {kFloats + elements});
    call.outputs.front().compute = [compute = call.outputs.front().compute](const Values& inputs) {
        return compute({inputs[0].subspan(kFloats)});
    };
    call.run = [sizes, run = softmax.spec().run](const Library& library, const Buffers& at) {
        Buffers moved = at;
        moved.add("logits", checker::Element::f32, at.f32("logits") + kFloats);
        run(library, moved, sizes, at.kept<Context>());
    };
    // No float4 lies in both: each column is loaded three times and stored once, in requests of 32 lanes' 4 bytes.
    call.needed = {{"requests", 4 * sizes.number("N") * sizes["V"] / 32}};
    softmax.op().add_case("apart", sizes.text(softmax.spec().shape)).calls.push_back(std::move(call));
}

// Each element is read once and written once, in requests of 32 lanes' 16 bytes, and has one exponential, in fp32. `warps`
// of a block come to two barriers for each of a row's two reductions.
void count_once(Call& call, double rows, double V, double warps) {
    const double elements = rows * V, bytes = 2 * kFloat * elements;
    call.needed = {{"bytes_asked", bytes},          {"requests", bytes / (32 * 16)},  {"sectors"},
                   {"special_functions", elements}, {"special_functions_of_doubles"}, {"barriers", rows * 4 * warps}};
}

}  // namespace
}  // namespace cases

void cases::add_own(LessonCases& lesson) {
    OpCases& softmax = lesson.op("softmax");
    count_once(softmax.at("long").calls.front(), 2, 50257, 16);
    // A warp needs no barrier; a block of 128 threads, or by the factor one of 256, is as good.
    count_once(softmax.add_drawn("short", "N=24 V=1024 Vp=1024").calls.front(), 24, 1024, 4);
    count_once(softmax.add_drawn("middle", "N=3 V=12800 Vp=12800").calls.front(), 3, 12800, 4);
    softmax.add_drawn("few", "N=9 V=31 Vp=33");
    softmax.add_drawn("odd_stride", "N=5 V=1023 Vp=1027");
    softmax.add_drawn("two_warps", "N=5 V=1025 Vp=1025");  // more than a warp holds in eight float4s a lane
    softmax.add_drawn("block", "N=3 V=12801 Vp=12803");
    softmax.add_drawn("edge", "N=1 V=51204 Vp=51204");  // one float4 more than the registers of the largest block hold
    softmax.add_drawn("longer", "N=2 V=61003 Vp=61003");
    add_apart(softmax);
    softmax.add_drawn("whole_vectors", "N=3 V=1100 Vp=1100");
    add_misaligned(softmax, "whole_vectors");
    softmax.add_unwritten("N=53000 V=50257 Vp=50304", "huge_blocks");  // as huge_inputs, with a block per row
    add_rows(softmax, "hot", 5, hot);
    add_rows(softmax, "equal", 2, equal);
    add_rows(softmax, "negative", 2, far_below_zero);
    add_rows(softmax, "masked", 2, masked);
}
