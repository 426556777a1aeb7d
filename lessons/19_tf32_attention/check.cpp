// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

constexpr double kTile = 64, kQueries = 128;  // keys of a tile, queries of a block

// The needs of a call. A block of 128 queries reads once each key and value that one of them sees; queries, out and
// log-sum-exps are moved once. Each score of a tile of 64 by 64 with one below the diagonal takes an exponential, and two
// multiply-adds per channel on tensor cores. Memory of its own may grow as T: as much as out has is allowed.
std::vector<checker::Needed> needed(const Sizes& d) {
    const double B = d.number("B"), T = d.number("T"), C = d.number("C"), NH = d.number("NH");
    double keys = 0, scores = 0;  // keys read and scores computed by the blocks of a head
    for (double q = 0; q < T; q += kQueries) { keys += std::min(q + kQueries, T); }
    for (double q = 0; q < T; q += kTile) { scores += kTile * std::min(q + kTile, T); }
    return {{"bytes_moved", kFloat * B * (2 * T * C + 2 * keys * C + NH * T)},
            {"special_functions", B * NH * scores},
            {"excess_wavefronts", 0},
            {"operations_off_tensor_cores", 4 * B * C * scores},
            {"bytes_allocated", kFloat * B * T * C},
            {"kernel_launches", 1},
            {"library_calls", 0}};
}

}  // namespace

void add_own(LessonCases& lesson) {
    add_tiled_attention(lesson.op("attention"), needed);
}

}  // namespace cases
