// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

constexpr double kTile = 64;  // rows of a head that a block computes

// What a call needs where each tile of 64 queries reads each key and value that one of them sees once: queries, out and
// log-sum-exps once; an exponential for each score of the tiles, which on the diagonal are whole ones; and memory of its own
// that grows as T, for which as much as out has is allowed.
std::vector<checker::Needed> needed(const Sizes& d) {
    const double B = d.number("B"), T = d.number("T"), C = d.number("C"), NH = d.number("NH");
    double keys = 0;  // that the tiles of a head read
    for (double q = 0; q < T; q += kTile) { keys += std::min(q + kTile, T); }
    return {{"bytes_moved", kFloat * B * (2 * T * C + 2 * keys * C + NH * T)},
            {"special_functions", B * NH * keys * kTile},
            {"bytes_allocated", kFloat * B * T * C},
            {"kernel_launches", 1}};
}

}  // namespace

void add_own(LessonCases& lesson) {
    add_tiled_attention(lesson.op("attention"), needed);
}

}  // namespace cases
