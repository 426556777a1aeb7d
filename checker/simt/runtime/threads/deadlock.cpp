// SPDX-License-Identifier: MIT
//
// What is said when no thread can go on, or when threads poll without end.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string>

#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/collectives.h"
#include "checker/simt/runtime/threads/partial_barriers.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

std::string lanes_text(unsigned mask) {
    std::string text;
    for (unsigned first = 0; first < kLanes; first++) {
        if ((mask >> first & 1U) == 0) {
            continue;
        }
        unsigned last = first;
        while (last + 1 < kLanes && (mask >> (last + 1) & 1U) != 0) { last++; }
        text += (text.empty() ? "" : ", ") + (last > first ? fmt::format("{}-{}", first, last) : std::to_string(first));
        first = last;
    }
    return fmt::format("lane{} {}", std::popcount(mask) == 1 ? "" : "s", text);
}

// Where the first of these lanes is, with those of them that are in the same place.
std::string describe_wait(const Warp& warp, unsigned lanes) {
    const Lane& first = warp.lanes[std::countr_zero(lanes)];
    const std::string line = text_of(source_of(first.site));
    const bool in_a_call = first.state == LaneState::at_collective;
    const unsigned there = in_a_call ? lanes & lanes_in(warp, first.collective) : 1U << first.number;
    const char* s = std::popcount(there) == 1 ? "s" : "";
    const std::string who = lanes_text(there);
    switch (first.state) {
        case LaneState::at_barrier:
            return fmt::format("{} wait{} at a barrier of the block, {}", who, s, line);
        case LaneState::at_grid_barrier:
            return fmt::format("{} wait{} at a grid's sync(), {}", who, s, line);
        case LaneState::at_collective:
            return fmt::format("{} wait{} at {} with mask 0x{:08x}, {}", who, s, name_of(first.collective),
                               first.collective.mask, line);
        case LaneState::at_partial_barrier:
            return fmt::format("{} wait{} at a barrier of some threads, {}", who, s, line);
        case LaneState::polling:
            return fmt::format("{} poll{} memory, {}", who, s, line);
        default:
            return fmt::format("{} {} elsewhere", who, std::popcount(there) == 1 ? "is" : "are");
    }
}

}  // namespace

void Scheduler::name_deadlock(Block& block) {
    for (const Warp& warp : block.warps) {
        if (warp.at_collective == 0) {
            continue;
        }
        Lane& lane = warp.lanes[std::countr_zero(warp.at_collective)];
        const Collective& request = lane.collective;
        const unsigned here = lanes_in(warp, request);
        const unsigned missing = request.mask & warp.present & ~warp.exited & ~here;
        hot.lane = &lane;
        report(Kind::collective, "", request.site, [&] {
            return fmt::format("{} with mask 0x{:08x}, which {} call{}, waits for {}, which never come{}: {}",
                               name_of(request), request.mask, lanes_text(here), std::popcount(here) == 1 ? "s" : "",
                               lanes_text(missing), std::popcount(missing) == 1 ? "s" : "",
                               describe_wait(warp, missing));
        });
        hot.lane = nullptr;
        return;
    }
    // No lane is in a collective: some wait for the block or a part of it, and some for the grid.
    const auto at = [&](LaneState state) {
        return std::find_if(block.lanes.begin(), block.lanes.end(),
                            [&](const Lane& lane) { return lane.state == state; });
    };
    const auto for_block = at(LaneState::at_barrier), for_grid = at(LaneState::at_grid_barrier);
    if (for_block != block.lanes.end() && for_grid != block.lanes.end()) {
        hot.lane = &*for_block;
        report(Kind::barrier, "", for_block->site, [&] {
            return "threads of one block wait at different barriers: here and at a grid's sync(), " +
                   text_of(source_of(for_grid->site));
        });
        hot.lane = nullptr;
    }
    const auto for_some = at(LaneState::at_partial_barrier);
    if (for_some != block.lanes.end()) {
        hot.lane = &*for_some;
        const PartialBarrier& partial_barrier = *for_some->partial_barrier;
        report(Kind::barrier, "", for_some->site, [&] {
            const auto missing = std::find_if(
                block.lanes.begin() + partial_barrier.begin, block.lanes.begin() + partial_barrier.end,
                [&](const Lane& lane) {
                    return lane.state != LaneState::exited &&
                           !partial_barrier
                                .has_arrived[static_cast<std::size_t>(&lane - &block.lanes[partial_barrier.begin])];
                });
            return fmt::format("a barrier of {} threads at which {} of them never arrive{}: {} waits at {}",
                               partial_barrier.alive, partial_barrier.alive - partial_barrier.arrived,
                               partial_barrier.alive - partial_barrier.arrived == 1 ? "s" : "", text_of(*missing),
                               text_of(source_of(missing->site)));
        });
        hot.lane = nullptr;
    }
}

void Scheduler::name_endless_polling() {
    Lane* poller = nullptr;
    std::size_t polling = 0, waiting = 0;
    for (Block* block : resident_) {
        for (Lane& lane : block->lanes) {
            polling += lane.state == LaneState::polling ? 1 : 0;
            waiting += lane.state == LaneState::at_barrier || lane.state == LaneState::at_collective ||
                               lane.state == LaneState::at_grid_barrier
                           ? 1
                           : 0;
            poller = poller == nullptr && lane.state == LaneState::polling ? &lane : poller;
        }
    }
    hot.lane = poller;
    report(Kind::spin, "", poller->site, [&] {
        std::string text = fmt::format(
            "an endless loop: {} thread{} look{} at memory over and over, and nothing that "
            "still runs changes it",
            polling, polling == 1 ? "" : "s", polling == 1 ? "s" : "");
        if (waiting > 0) {
            text += fmt::format("; {} more wait at a barrier or a warp collective", waiting);
        }
        if (waiting_blocks_ > 0) {
            text += fmt::format(
                "; {} blocks are resident, as many as can be, and {} more begin only when one of these ends: if they "
                "are waited for, the grid is too large for its blocks to wait for each other",
                resident_.size(), waiting_blocks_);
        }
        return text;
    });
    hot.lane = nullptr;
    error_ = cudaErrorLaunchFailure;
}

}  // namespace simt
