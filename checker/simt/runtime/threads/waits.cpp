// SPDX-License-Identifier: MIT
//
// The places where lanes wait: for their block, their grid or their warp, for memory, or for their warp's trace.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/collectives.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

// Looks at memory before the others get their turn.
constexpr unsigned kPollsInARow = 32;

// The lane waits, and returns from here when it is woken.
void wait(Context& scheduler) {
    scheduler = boost::context::detail::jump_fcontext(scheduler, nullptr).fctx;
}

}  // namespace

// ---- barriers ---------------------------------------------------------------------------------------------------------

int Scheduler::barrier(BarrierKind kind, int predicate, const void* site) {
    Lane& lane = calling_lane();
    Block& block = *lane.block;
    auto& barrier = block.barrier;
    tell(&LaunchObserver::reach_barrier, site);
    if (barrier.arrived == 0) {
        barrier.kind = kind;
        barrier.site = site;
        barrier.count = 0;
        barrier.of_many_lines = false;
    } else if (site != barrier.site && hot.checking) {
        SourceLine first = source_of(barrier.site);
        SourceLine second = source_of(site);
        if (!(first == second)) {
            barrier.of_many_lines = true;
            if (std::pair(second.file, second.line) < std::pair(first.file, first.line)) {
                std::swap(first, second);  // the finding does not depend on the order in which the warps ran
            }
            report(Kind::barrier, "", first, [&] {
                return fmt::format("threads of one block wait at different barriers: here and at {}",
                                   simt::text_of(second));
            });
        }
    }
    barrier.arrived++;
    barrier.count += predicate != 0 ? 1 : 0;
    suspend(lane, LaneState::at_barrier, site);
    if (barrier.arrived >= block.alive) {
        complete_barrier(block);
    }
    wait(context_);
    switch (kind) {
        case BarrierKind::plain:
            return 0;
        case BarrierKind::count:
            return lane.predicate;
        case BarrierKind::all:
            return lane.predicate == static_cast<int>(block.lanes.size()) ? 1 : 0;
        case BarrierKind::any:
            return lane.predicate > 0 ? 1 : 0;
    }
    return 0;
}

// Threads that have exited are not waited for, and count as if their predicate did not matter.
bool Scheduler::complete_barrier(Block& block) {
    auto& barrier = block.barrier;
    if (barrier.arrived == 0 || barrier.arrived < block.alive) {
        return false;
    }
    if (!block.left.empty() && hot.checking) {
        check_early_exits(block);
    }
    block.ended = static_cast<unsigned>(block.lanes.size()) - block.alive;
    if (block.ended > 0 && hot.checking && shared_.size() > 0) {
        note_who_left([&] {
            return fmt::format("{} of {} threads of block ({}, {}, {}) had ended before the others met at {} in {}",
                               block.ended, block.lanes.size(), block.index.x, block.index.y, block.index.z,
                               text_of(source_of(barrier.site)), launch_->kernel);
        });
    }
    const int exited = static_cast<int>(block.ended);
    for (Lane& lane : block.lanes) {
        if (lane.state == LaneState::at_barrier) {
            lane.predicate = barrier.kind == BarrierKind::all ? barrier.count + exited : barrier.count;
            wake(lane);
        }
    }
    barrier.arrived = 0;
    tell(&LaunchObserver::pass_barrier, barrier.of_many_lines ? nullptr : barrier.site);
    block.released = true;
    return true;
}

// Whether the lane left a statement in which the other still is, and went on to use memory or to call the device.
static bool went_round_it(const Lane& lane, const Lane& other) {
    return std::any_of(other.barrier_visits.begin(), other.barrier_visits.end(), [&](const BarrierVisit& its) {
        return its.entered > its.left &&
               std::any_of(lane.barrier_visits.begin(), lane.barrier_visits.end(), [&](const BarrierVisit& own) {
                   return own.statement == its.statement && own.left >= its.entered && lane.used >= own.at &&
                          lane.used_at != nullptr;
               });
    });
}

// All other threads wait at the barrier. A thread that has ended is not waited for, wherever it ended: CUDA allows it.
// Those of its warp that went round the barrier and on should have met the others behind it.
void Scheduler::check_early_exits(Block& block) {
    Lane* const running = hot.lane;
    for (const Lane* lane : std::exchange(block.left, {})) {
        const unsigned waiting = lane->warp->present & ~lane->warp->exited;
        if (waiting == 0) {
            continue;
        }
        hot.lane = &lane->warp->lanes[std::countr_zero(waiting)];
        const std::string thread = fmt::format("({}, {}, {})", lane->thread.x, lane->thread.y, lane->thread.z);
        if (went_round_it(*lane, *hot.lane)) {
            report(Kind::barrier, "", hot.lane->site, [&] {
                return fmt::format(
                    "lanes of one warp disagree about this barrier: thread {} went round it and on to {}, "
                    "while others wait here. All lanes come to a barrier, or end without doing more",
                    thread, text_of(source_of(lane->used_at)));
            });
        } else if (wants_notes()) {
            note(hot.lane->site, "thread " + thread +
                                     " ended without coming to this barrier, at which others of its warp wait: CUDA "
                                     "allows it, as it does an early return");
        }
    }
    hot.lane = running;
}

void Scheduler::grid_barrier(const void* site) {
    if (!launch_->cooperative) {
        report(Kind::barrier, "", site, [] {
            return "a grid's sync() in a launch that is not cooperative: cudaLaunchCooperativeKernel makes one";
        });
        abandon(cudaErrorLaunchFailure);
    }
    tell(&LaunchObserver::reach_grid_barrier, site);
    suspend(calling_lane(), LaneState::at_grid_barrier, site);
    wait(context_);
}

// Every resident block waits. Blocks that have ended never come: a GPU would hang.
void Scheduler::complete_grid_barrier(std::uint64_t blocks) {
    Lane* first = nullptr;
    const Lane* exited = nullptr;
    for (Block* block : resident_) {
        for (Lane& lane : block->lanes) {
            if (lane.state == LaneState::exited) {
                exited = exited == nullptr ? &lane : exited;
            } else if (first == nullptr || text_of(source_of(lane.site)) < text_of(source_of(first->site))) {
                first = &lane;
            }
        }
    }
    hot.lane = first;
    if (resident_.size() < blocks) {
        report(Kind::barrier, "", first->site, [&] {
            return fmt::format("a grid's sync() that only {} of {} blocks come to: the others have ended",
                               resident_.size(), blocks);
        });
        error_ = cudaErrorLaunchFailure;
    } else if (exited != nullptr) {
        report(Kind::barrier, "", first->site, [&] {
            return fmt::format("a grid's sync() that not every thread comes to: {} has exited", text_of(*exited));
        });
    }
    for (Block* block : resident_) {
        for (Lane& lane : block->lanes) {
            if (lane.state != LaneState::at_grid_barrier) {
                continue;
            }
            if (lane.site != first->site && !(source_of(lane.site) == source_of(first->site))) {
                report(Kind::barrier, "", first->site, [&] {
                    return fmt::format("threads of one grid wait at different barriers: here and at {}",
                                       text_of(source_of(lane.site)));
                });
            }
            wake(lane);
        }
    }
    tell(&LaunchObserver::pass_grid_barrier, first->site);
    hot.lane = nullptr;
}

// ---- warp collectives ---------------------------------------------------------------------------------------------------

void Scheduler::collective(Collective& request) {
    Lane& lane = calling_lane();
    Warp& warp = *lane.warp;
    tell(&LaunchObserver::reach_collective, lane, request);
    hot.site = request.site;
    if ((request.mask >> lane.number & 1U) == 0) {
        report(Kind::collective, "", request.site, [&] {
            return fmt::format("{} with mask 0x{:08x}, in which the calling lane {} is not", name_of(request),
                               request.mask, lane.number);
        });
        abandon(cudaErrorLaunchFailure);
    }
    lane.collective = request;
    suspend(lane, LaneState::at_collective, request.site);
    if (!complete_collective(warp, request.mask)) {
        wait(context_);
    }
    request = lane.collective;
}

bool Scheduler::complete_collective(Warp& warp, unsigned mask) {
    const unsigned needed = mask & warp.present & ~warp.exited;
    if (needed == 0 || (warp.at_collective & needed) != needed) {
        return false;
    }
    const Collective& first = warp.lanes[std::countr_zero(needed)].collective;
    if (lanes_in(warp, first) != needed) {
        return false;
    }
    exchange(warp, needed);
    if (first.kind == CollectiveKind::sync) {
        tell(&LaunchObserver::sync_lanes, warp, needed, first.site);
    }
    for (unsigned lanes = needed; lanes != 0; lanes &= lanes - 1) { wake(warp.lanes[std::countr_zero(lanes)]); }
    return true;
}

void Scheduler::complete_all_collectives(Warp& warp) {
    for (unsigned lanes = warp.at_collective; lanes != 0; lanes &= lanes - 1) {
        const unsigned number = static_cast<unsigned>(std::countr_zero(lanes));
        if ((warp.at_collective >> number & 1U) != 0) {
            complete_collective(warp, warp.lanes[number].collective.mask);
        }
    }
}

unsigned Scheduler::active_mask(const void* site) {
    Lane& lane = calling_lane();
    suspend(lane, LaneState::at_active_mask, site);
    wait(context_);
    return lane.collective.mask;
}

// No other lane of the warp can run: the lanes that ask at the same place are together.
void Scheduler::resolve_active_mask(Warp& warp) {
    const unsigned waiting = warp.at_active_mask;
    for (unsigned lanes = waiting; lanes != 0; lanes &= lanes - 1) {
        Lane& lane = warp.lanes[std::countr_zero(lanes)];
        lane.collective.mask = 0;
        for (unsigned others = waiting; others != 0; others &= others - 1) {
            const unsigned other = static_cast<unsigned>(std::countr_zero(others));
            lane.collective.mask |= warp.lanes[other].site == lane.site ? 1U << other : 0;
        }
    }
    for (unsigned lanes = waiting; lanes != 0; lanes &= lanes - 1) { wake(warp.lanes[std::countr_zero(lanes)]); }
}

// ---- threads that wait for memory ----------------------------------------------------------------------------------------

void Scheduler::poll(const void* site) {
    polls_++;
    Lane& lane = calling_lane();
    if (++lane.polls >= kPollsInARow) {
        hot.counts.other_changes += lane.looks == 0 ? 1 : 0;  // atomics with an unused outcome are work
        yield(site);
    }
}

void Scheduler::poll(std::uintptr_t address) {
    Lane& lane = calling_lane();
    lane.looks++;
    if (std::find(lane.words.begin(), lane.words.end(), address) == lane.words.end()) {
        lane.words[lane.next_word++ % lane.words.size()] = address;
        hot.counts.other_changes++;  // a thread that looks at ever new words is at work
    }
}

void Scheduler::yield(const void* site) {
    suspend(calling_lane(), LaneState::polling, site);
    wait(context_);
}

void Scheduler::wait_for_trace(const void* site) {
    suspend(calling_lane(), LaneState::trace_full, site);
    wait(context_);
}

}  // namespace simt
