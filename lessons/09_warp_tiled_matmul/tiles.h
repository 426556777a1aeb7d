// SPDX-License-Identifier: MIT
//
// The sizes that a matmul is built from, and which of them a card takes. `make tune-lesson09` measures all of them on
// the card that is here and writes its row into the table below.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "lessons/gpt2/launch.h"

// How a stage comes into shared memory: through registers, or by cp.async, which sm_80 and later have.
enum class Way { registers, async };

// A block computes kN by kOC outputs and goes along C in steps of kC channels. A warp is 8 by 4 lanes, a lane computes
// kRows by kColumns outputs.
template <int kN, int kOC, int kC, int kRows, int kColumns, Way kOnItsWay>
struct Tile {
    static constexpr int kBlockN = kN, kBlockOC = kOC, kStep = kC;
    static constexpr int kThreadN = kRows, kThreadOC = kColumns;
    static constexpr Way kWay = kOnItsWay;

    static constexpr int kLanesN = 8, kLanesOC = 4;
    static constexpr int kWarpN = kLanesN * kThreadN, kWarpOC = kLanesOC * kThreadOC;
    static constexpr int kWarpsN = kBlockN / kWarpN, kWarpsOC = kBlockOC / kWarpOC;
    static constexpr int kThreads = 32 * kWarpsN * kWarpsOC;

    // Floats between the end of a stage's row and the next: rows are then 4 banks apart, modulo 32.
    static constexpr int kPad = 4;
    static constexpr int kSharedBytes = 2 * kStep * (kBlockN + kPad + kBlockOC + kPad) * 4;

    // Blocks that share a multiprocessor's 65,536 registers: 128 for a thread, or 256 where its sums and what it has on its
    // way are more than 64.
    static constexpr int kStaged = kWay == Way::registers ? kStep * (kBlockN + kBlockOC) / kThreads : 0;
    static constexpr int kResident = (kThreadN * kThreadOC + kStaged > 64 ? 256 : 512) / kThreads;

    static_assert(kBlockN % kWarpN == 0 && kBlockOC % kWarpOC == 0, "kBlockN, kBlockOC: whole warps");
    static_assert(kThreadN % 4 == 0 && kThreadOC % 4 == 0, "kThreadN, kThreadOC: a lane loads and stores float4s");
    static_assert(kStep % 8 == 0, "kStep: a warp copies 8 channels of 4 rows");
    static_assert(kBlockN % (kThreads / 8) == 0 && kBlockOC % (kThreads / 8) == 0, "kThreads: each copies as much");
    static_assert(kResident > 0,
                  "kBlockN, kBlockOC: a multiprocessor has registers for 512 threads, or 256 with 256 each");
    static_assert(kBlockN % 32 == 0 && kBlockOC % 32 == 0, "kPad: a stage's rows are 4 banks apart");
    static_assert(kSharedBytes <= 48 * 1024, "kStep: two stages of both operands fit a block's 48 KB");
};

using Tiles = std::tuple<Tile<128, 128, 16, 8, 8, Way::async>,     // 0
                         Tile<128, 64, 16, 8, 8, Way::async>,      // 1
                         Tile<64, 64, 16, 4, 8, Way::async>,       // 2
                         Tile<128, 128, 8, 8, 8, Way::registers>,  // 3
                         Tile<64, 64, 16, 4, 8, Way::registers>>;  // 4
constexpr int kTiles = static_cast<int>(std::tuple_size_v<Tiles>);

// Calls function(tile) with an object of the type that has this number.
template <class Function>
void with_tile(int number, Function function) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
        ((i == number ? function(std::tuple_element_t<i, Tiles>()) : void()), ...);
    }
    (std::make_integer_sequence<int, kTiles>());
}

struct Card {
    int capability = 0;  // 90 for 9.0
    int multiprocessors = 0;
};

// Whether an output (N, OC) has fewer than two blocks of 128 by 128 for each multiprocessor.
constexpr bool is_few(const Card& card, long N, long OC) {
    return static_cast<long>(ceil_div(N, 128)) * ceil_div(OC, 128) < 2L * card.multiprocessors;
}

// The tiles for few and for many outputs, as make tune-lesson09 measured them.
struct Choice {
    Card card;
    int few = 0, many = 0;
};
constexpr Choice kMeasured[] = {
    // tuned
    // end tuned
    {{0, 0}, 0, 0},  // no card
};

// The number of the tile for an output (N, OC). On a card that was not measured: the largest that its copies suit, or,
// of few outputs, what every card can run.
constexpr int tile_for(const Card& card, long N, long OC) {
    Choice choice{card, 4, card.capability >= 80 ? 0 : 3};
    for (const Choice& row : kMeasured) {
        if (row.card.capability == card.capability && row.card.multiprocessors == card.multiprocessors) {
            choice = row;
        }
    }
    return is_few(card, N, OC) ? choice.few : choice.many;
}

inline Card card_here() {
    int device = 0, major = 0, minor = 0, multiprocessors = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return {10 * major + minor, multiprocessors};
}
