// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

constexpr double kTile = 64, kQueries = 128;  // keys of a tile, queries of a block

// The needs of a call where each block of 128 queries reads each key and value that one of them sees once: queries, out and
// log-sum-exps once; for each score of tiles of 64 by 64 that has one below the diagonal an exponential, and two
// multiply-adds per channel on tensor cores; and memory of its own that grows as T, for which as much as out has is allowed.
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
    OpCases& attention = lesson.op("attention");
    // At a length and at twice the length: what grows as its square is seen at one of them.
    for (const auto& [name, shape] : {std::pair("tiles", "B=1 T=256 C=64 NH=1"), {"twice", "B=1 T=512 C=64 NH=1"}}) {
        attention.add_drawn(name, shape).calls.back().needed = needed(Sizes::of(shape));
    }
    // Each head size with another length: a query less than a tile, a tile, one more; a key more than a block; one query.
    attention.add_drawn("heads_of_16", "B=2 T=63 C=32 NH=2");
    attention.add_drawn("heads_of_20", "B=1 T=129 C=60 NH=3");
    attention.add_drawn("heads_of_64", "B=2 T=65 C=128 NH=2");
    attention.add_drawn("heads_of_80", "B=1 T=64 C=160 NH=2");
    attention.add_drawn("heads_of_128", "B=1 T=129 C=256 NH=2");
    attention.add_drawn("heads_of_11", "B=2 T=70 C=33 NH=3");  // rows that start at no multiple of 16 bytes
    attention.add_drawn("one_query", "B=3 T=1 C=128 NH=2");
    // One float4 more than a kernel for heads of 32, and of 64, has.
    attention.add_drawn("heads_of_36", "B=1 T=33 C=36 NH=1");
    attention.add_drawn("heads_of_68", "B=1 T=33 C=68 NH=1");
    add_misaligned(attention, "heads_of_16");
    attention.add_unwritten("B=18000 T=64 C=768 NH=12", "huge_qkv");  // 2,654,208,000 of qkv, and 216,000 heads
    attention.add_unwritten("B=48000 T=64 C=768 NH=12", "huge_out");  // 2,359,296,000 of out
}

}  // namespace cases
