// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/threads/partial_barriers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "checker/simt/include/simt/group_functions.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

unsigned number_of(const Lane& lane) {
    return static_cast<unsigned>(&lane - lane.block->lanes.data());
}

PartialBarrier& partial_barrier_of(Block& block, unsigned begin, unsigned end) {
    for (const std::unique_ptr<PartialBarrier>& known : block.partial_barriers) {
        if (known->begin == begin && known->end == end) {
            return *known;
        }
    }
    const InRuntime in_runtime;
    PartialBarrier& made = *block.partial_barriers.emplace_back(std::make_unique<PartialBarrier>(begin, end));
    made.alive = static_cast<unsigned>(std::count_if(block.lanes.begin() + begin, block.lanes.begin() + end,
                                                     [](const Lane& lane) { return lane.state != LaneState::exited; }));
    return made;
}

}  // namespace

std::uint32_t Scheduler::arrive(PartialBarrier& partial_barrier, const void* site) {
    const Lane& lane = calling_lane();
    const unsigned rank = number_of(lane) - partial_barrier.begin;
    if (partial_barrier.has_arrived[rank]) {
        report(Kind::barrier, "", site,
               [] { return "the thread arrives at a barrier once more, before the others have"; });
        abandon(cudaErrorLaunchFailure);
    }
    tell(&LaunchObserver::arrive, partial_barrier, site);
    partial_barrier.site = partial_barrier.arrived == 0 ? site : partial_barrier.site;
    partial_barrier.has_arrived[rank] = true;
    partial_barrier.arrived++;
    const std::uint32_t phase = partial_barrier.phase;
    complete(*lane.block, partial_barrier);
    return phase;
}

void Scheduler::wait_for(const PartialBarrier& partial_barrier, std::uint32_t phase, const void* site) {
    Lane& lane = calling_lane();
    if (partial_barrier.phase == phase) {
        lane.partial_barrier = &partial_barrier;
        suspend(lane, LaneState::at_partial_barrier, site);
        jump_to_scheduler();
        lane.partial_barrier = nullptr;
    }
    tell(&LaunchObserver::leave, partial_barrier, site);
}

void Scheduler::complete(Block& block, PartialBarrier& partial_barrier) {
    if (partial_barrier.arrived == 0 || partial_barrier.arrived < partial_barrier.alive) {
        return;
    }
    partial_barrier.came[partial_barrier.phase % 2] = partial_barrier.arrived;
    partial_barrier.arrived = 0;
    partial_barrier.phase++;
    std::fill(partial_barrier.has_arrived.begin(), partial_barrier.has_arrived.end(), false);
    for (unsigned i = partial_barrier.begin; i < partial_barrier.end; i++) {
        Lane& lane = block.lanes[i];
        if (lane.state == LaneState::at_partial_barrier && lane.partial_barrier == &partial_barrier) {
            wake(lane);
        }
    }
}

// A lane has exited.
void Scheduler::leave_partial_barriers(const Lane& lane) {
    const unsigned number = number_of(lane);
    for (const std::unique_ptr<PartialBarrier>& partial_barrier : lane.block->partial_barriers) {
        if (number >= partial_barrier->begin && number < partial_barrier->end) {
            partial_barrier->alive--;
            partial_barrier->arrived -= partial_barrier->has_arrived[number - partial_barrier->begin] ? 1 : 0;
            complete(*lane.block, *partial_barrier);
        }
    }
}

#define SIMT_SITE __builtin_return_address(0)

unsigned int barrier_arrive() {
    Block& block = *calling_lane().block;
    return Scheduler::instance().arrive(partial_barrier_of(block, 0, static_cast<unsigned>(block.lanes.size())),
                                        SIMT_SITE);
}

void barrier_wait(unsigned int phase) {
    Block& block = *calling_lane().block;
    Scheduler::instance().wait_for(partial_barrier_of(block, 0, static_cast<unsigned>(block.lanes.size())), phase,
                                   SIMT_SITE);
}

const void* meet_tile(unsigned int threads, const void* value, std::size_t bytes) {
    const Lane& lane = calling_lane();
    Block& block = *lane.block;
    const unsigned number = number_of(lane), begin = number / threads * threads;
    PartialBarrier& partial_barrier =
        partial_barrier_of(block, begin, std::min(begin + threads, static_cast<unsigned>(block.lanes.size())));
    std::vector<PartialBarrier::Value>& values = partial_barrier.values[partial_barrier.phase % 2];
    if (bytes != 0) {
        if (values.size() != threads) {
            const InRuntime in_runtime;
            values.resize(threads);
        }
        std::memcpy(&values[number - begin], value, bytes);
    }
    const std::uint32_t phase = Scheduler::instance().arrive(partial_barrier, SIMT_SITE);
    Scheduler::instance().wait_for(partial_barrier, phase, SIMT_SITE);
    const unsigned came = partial_barrier.came[phase % 2];
    if (came < threads && (bytes != 0 || partial_barrier.end - begin < threads)) {
        report(Kind::collective, "", SIMT_SITE, [&] {
            const bool short_block = partial_barrier.end - begin < threads;
            return fmt::format("only {} threads of a tile of {} come to this call: {}", came, threads,
                               short_block ? "the block has no more" : "the others have ended");
        });
    }
    return values.data();
}

void value_met(const void* values, unsigned int rank, void* value, std::size_t bytes) {
    std::memcpy(value, static_cast<const PartialBarrier::Value*>(values) + rank, bytes);
}

void too_many_arrivals(unsigned int expected) {
    report(Kind::barrier, "", SIMT_SITE, [&] {
        return fmt::format("more threads arrive at a cuda::barrier than the {} that it was made for", expected);
    });
    Scheduler::instance().abandon(cudaErrorLaunchFailure);
}

}  // namespace simt
