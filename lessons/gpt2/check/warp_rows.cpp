// SPDX-License-Identifier: MIT
//
// Cases of causal_softmax for kernels that give a row to a warp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

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

void add_rows_causal_softmax(OpCases& op, int reads) {
    add_misaligned(op, "regular");
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
