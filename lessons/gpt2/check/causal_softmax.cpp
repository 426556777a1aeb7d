// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "lessons/gpt2/check/cases.h"
#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

// lse and att, as reference/ops/causal_softmax.py has them.
std::vector<checker::Computed> compute_causal_softmax(const Sizes& d, const Values& inputs) {
    const auto T = static_cast<std::size_t>(d["T"]);
    const double scale = d.number("scale");
    checker::Computed lse, att{.values = std::vector<float>(inputs[0].size()), .floor = {}};
    for (std::size_t row = 0; row * T < inputs[0].size(); row++) {
        std::vector<double> scaled;
        for (const double score : inputs[0].subspan(row * T, row % T + 1)) { scaled.push_back(scale * score); }
        const SoftmaxRow of_row = softmax_row(scaled, of_exponents(scaled));
        std::ranges::transform(of_row.probs, &att.values[row * T], [](double p) { return static_cast<float>(p); });
        att.floor.push_back(static_cast<float>(of_row.of_probs));
        lse.values.push_back(static_cast<float>(of_row.lse));
        lse.floor.push_back(static_cast<float>(of_row.of_lse));
    }
    return {std::move(lse), std::move(att)};
}

// Scores of later tokens are NaN, infinite or 1e30: what looks at them gives them away in every row.
float later_or(float seen, long row, long column, long columns) {
    constexpr std::array kLater{1e30F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
    return column <= row % columns ? seen : kLater[static_cast<std::size_t>(column % 3)];
}

float later_score(long row, long column, long columns, float drawn) {
    return later_or(drawn, row, column, columns);
}

float extreme_score(long row, long column, long columns, float drawn) {
    constexpr float kScale = 0.125F;  // the default of the op
    return later_or(extreme_logit(row, column, columns, drawn * kScale) / kScale, row, column, columns);
}

// ---- for kernels that give a row to a warp ---------------------------------------------------------------------------

// A score of token s in row t, from one that is drawn with sigma 8; the scale is 1/8.
using Score = float (*)(int t, int s, float drawn);

Draw scores_by(Score score) {
    return changed(normal(8.0F), [score](long row, long s, long T, float drawn) {
        return score(static_cast<int>(row % T), static_cast<int>(s), drawn);
    });
}

// One score of each row exceeds the others by 100 after scaling: the other probabilities are 0.
float one_hot(int t, int s, float drawn) {
    return s == 7 * t % (t + 1) ? drawn + 800 : drawn;
}

// 80, and in every other row so little that a maximum that starts anywhere but from near -FLT_MAX stays there.
float equal(int t, int /*s*/, float /*drawn*/) {
    return t % 2 == 0 ? 80 : -3e38F;
}

// Near -300 after scaling: a maximum that starts from 0 stays there, and every exponential vanishes.
float negative(int /*t*/, int /*s*/, float drawn) {
    return drawn - 2400;
}

// Half of each row's scores are minus infinity: the first ones in rows of even t, the last ones in the others. From t=256
// on that is more than a warp's first 128 scores.
float minus_infinity(int t, int s, float drawn) {
    const bool first = s < (t + 1) / 2;
    return t > 0 && first == (t % 2 == 0) ? -std::numeric_limits<float>::infinity() : drawn;
}

float ten_thousand(int /*t*/, int /*s*/, float drawn) {
    return std::copysign(1e4F, drawn) + drawn;
}

float rising(int /*t*/, int s, float drawn) {
    return 2 * static_cast<float>(s) + drawn / 8;
}

float falling(int t, int s, float drawn) {
    return rising(t, -s, drawn);
}

// Requests and sectors of a warp for `floats` side by side, the first of them `offset` floats after the start of a sector.
struct Moved {
    int requests = 0, sectors = 0;

    void add(int offset, int floats, int per_request) {
        for (int first = 0; first < floats; first += per_request) {
            requests++;
            sectors += (offset + std::min(per_request, floats - first) + 7) / 8;
        }
    }
};

// Each row's t + 1 scores are read `reads` times, its T probabilities and its log-sum-exp written: by float4s where all rows
// start at multiples of 16 bytes, else a float per lane. All exponentials are in fp32.
std::vector<checker::Needed> needed_by(const Sizes& sizes, int reads) {
    const int T = sizes["T"], rows = sizes["B"] * sizes["NH"] * T, per_request = T % 4 == 0 ? 128 : 32;
    Moved moved;
    double floats = 0;
    for (int row = 0; row < rows; row++) {
        const int offset = row * T % 8, scores = row % T + 1;
        for (int read = 0; read < reads; read++) { moved.add(offset, scores, per_request); }
        moved.add(offset, T, per_request);
        moved.add(0, 1, 1);
        floats += reads * scores + T + 1;
    }
    return {{"bytes_asked", kFloat * floats},
            {"bytes_moved", 32.0 * moved.sectors},
            {"requests", static_cast<double>(moved.requests)},
            {"special_functions_of_doubles"}};
}

}  // namespace

const OpSpec causal_softmax_spec{
    .name = "causal_softmax",
    .shape = "B NH T",
    .case_shape = "B T C NH",
    .inputs = {{"scores", "B NH/h T T/s", normal(8.0F)}},
    .outputs = {{"lse", "B NH/h T"}, {.name = "att", .dims = "B NH/h T T/s", .exact_zeros = true}},
    .defined = defines<causal_softmax>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<causal_softmax>()(at.f32("att"), at.f32("lse"), at.f32("scores"),
                                           static_cast<float>(d.number("scale")), d["B"], d["NH"], d["T"], ctx);
        },
    // Half of each square of scores is masked and not read; all of att is written. FLOP: scale, maximum, subtraction,
    // exp, sum, and a subtraction and an exp for att.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d["NH"] * d["T"], scores = rows * (d["T"] + 1.0) / 2;
        return {.bytes = kFloat * (scores + rows * d["T"] + rows), .flop = 7 * scores};
    },
    .defaults = "scale=0.125",  // 1 / sqrt(HS) of GPT-2
    .dry_run = "B=1 NH=12 T=16",
    .compute = compute_causal_softmax,
    .drawn_cases = {{"later", "B=2 NH=3 T=21", {{"scores", changed(normal(8.0F), later_score)}}},
                    {"extreme", "B=1 NH=2 T=40", {{"scores", changed(normal(8.0F), extreme_score)}}},
                    {"long", "B=1 NH=1 T=1100", {{"scores", changed(normal(8.0F), extreme_score)}}}},
    .huge_cases = {{"huge_inputs", "B=55000 NH=12 T=64"}},
    .turns = "B=1 NH=2 T=5"};

void add_rows_causal_softmax(OpCases& op, int reads) {
    add_misaligned(op, "regular");
    op.add_drawn("edge", "B=1 NH=1 T=33");  // one score more than a warp has lanes, one row more than four blocks have
    op.add_drawn("edge_4", "B=1 NH=1 T=132");  // one float4 more than a warp has lanes
    const auto add = [&op](const char* name, Score score) {
        const std::map<std::string, Draw> draws{{"scores", scores_by(score)}};
        op.add_drawn(name, "B=1 NH=2 T=300", draws);
        op.at(name).calls.push_back(op.drawn(Sizes::of("B=1 NH=2 T=301").completed(op.spec().defaults), {}, draws));
    };
    for (const auto& [name, shape] : {std::pair("even", "B=1 NH=2 T=512"), std::pair("ragged", "B=1 NH=2 T=509")}) {
        op.add_drawn(name, shape).calls.front().needed = needed_by(Sizes::of(shape), reads);
    }
    add("one_hot", one_hot);
    add("equal", equal);
    add("negative", negative);
    add("minus_infinity", minus_infinity);
    add("ten_thousand", ten_thousand);
    add("rising", rising);
    add("falling", falling);
    op.add_unwritten("B=1 NH=60 T=6000", "huge_rows");  // longer rows than registers keep
}

}  // namespace cases
