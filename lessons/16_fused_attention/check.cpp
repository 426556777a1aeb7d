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
    OpCases& attention = lesson.op("attention");
    // At a length and at twice the length: what grows as its square is seen at one of them.
    for (const auto& [name, shape] : {std::pair("tiles", "B=1 T=256 C=64 NH=1"), {"twice", "B=1 T=512 C=64 NH=1"}}) {
        attention.add_drawn(name, shape).calls.back().needed = needed(Sizes::of(shape));
    }
    // Each head size with another length: a query less than a tile, a tile, one more; a key more than two tiles; one query.
    attention.add_drawn("heads_of_16", "B=2 T=63 C=32 NH=2");
    attention.add_drawn("heads_of_20", "B=1 T=129 C=60 NH=3");
    attention.add_drawn("heads_of_64", "B=2 T=65 C=128 NH=2");
    attention.add_drawn("heads_of_80", "B=1 T=64 C=160 NH=2");
    attention.add_drawn("heads_of_128", "B=1 T=129 C=256 NH=2");
    attention.add_drawn("heads_of_11", "B=2 T=70 C=33 NH=3");  // rows that start at no multiple of 16 bytes
    attention.add_drawn("one_query", "B=3 T=1 C=128 NH=2");
    // One float4 more than a kernel for heads of 32, and of 64, has; with a key more than a tile of 32.
    attention.add_drawn("heads_of_36", "B=1 T=33 C=36 NH=1");
    attention.add_drawn("heads_of_68", "B=1 T=33 C=68 NH=1");
    add_misaligned(attention, "heads_of_16");
    attention.add_unwritten("B=18000 T=64 C=768 NH=12", "huge_qkv");  // 2,654,208,000 of qkv, and 216,000 heads
    attention.add_unwritten("B=48000 T=64 C=768 NH=12", "huge_out");  // 2,359,296,000 of out
}

}  // namespace cases
