// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/threads/meetings.h"

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

Meeting& meeting_of(Block& block, unsigned begin, unsigned end) {
    for (const std::unique_ptr<Meeting>& known : block.meetings) {
        if (known->begin == begin && known->end == end) {
            return *known;
        }
    }
    const Busy busy;
    Meeting& made = *block.meetings.emplace_back(std::make_unique<Meeting>(begin, end));
    made.alive = static_cast<unsigned>(std::count_if(block.lanes.begin() + begin, block.lanes.begin() + end,
                                                     [](const Lane& lane) { return lane.state != LaneState::exited; }));
    return made;
}

}  // namespace

std::uint32_t Scheduler::arrive(Meeting& meeting, const void* site) {
    const Lane& lane = calling_lane();
    const unsigned rank = number_of(lane) - meeting.begin;
    if (meeting.has_arrived[rank]) {
        report(Kind::barrier, "", site,
               [] { return "the thread arrives at a barrier once more, before the others have"; });
        abandon(cudaErrorLaunchFailure);
    }
    tell(&LaunchObserver::arrive, meeting, site);
    meeting.site = meeting.arrived == 0 ? site : meeting.site;
    meeting.has_arrived[rank] = true;
    meeting.arrived++;
    const std::uint32_t phase = meeting.phase;
    complete(*lane.block, meeting);
    return phase;
}

void Scheduler::wait_for(const Meeting& meeting, std::uint32_t phase, const void* site) {
    Lane& lane = calling_lane();
    if (meeting.phase == phase) {
        lane.meeting = &meeting;
        suspend(lane, LaneState::at_meeting, site);
        jump_to_scheduler();
        lane.meeting = nullptr;
    }
    tell(&LaunchObserver::leave, meeting, site);
}

void Scheduler::complete(Block& block, Meeting& meeting) {
    if (meeting.arrived == 0 || meeting.arrived < meeting.alive) {
        return;
    }
    meeting.came[meeting.phase % 2] = meeting.arrived;
    meeting.arrived = 0;
    meeting.phase++;
    std::fill(meeting.has_arrived.begin(), meeting.has_arrived.end(), false);
    for (unsigned i = meeting.begin; i < meeting.end; i++) {
        Lane& lane = block.lanes[i];
        if (lane.state == LaneState::at_meeting && lane.meeting == &meeting) {
            wake(lane);
        }
    }
}

// A lane has exited.
void Scheduler::leave_meetings(const Lane& lane) {
    const unsigned number = number_of(lane);
    for (const std::unique_ptr<Meeting>& meeting : lane.block->meetings) {
        if (number >= meeting->begin && number < meeting->end) {
            meeting->alive--;
            meeting->arrived -= meeting->has_arrived[number - meeting->begin] ? 1 : 0;
            complete(*lane.block, *meeting);
        }
    }
}

#define SIMT_SITE __builtin_return_address(0)

unsigned int barrier_arrive() {
    Block& block = *calling_lane().block;
    return Scheduler::instance().arrive(meeting_of(block, 0, static_cast<unsigned>(block.lanes.size())), SIMT_SITE);
}

void barrier_wait(unsigned int phase) {
    Block& block = *calling_lane().block;
    Scheduler::instance().wait_for(meeting_of(block, 0, static_cast<unsigned>(block.lanes.size())), phase, SIMT_SITE);
}

const void* meet_tile(unsigned int threads, const void* value, std::size_t bytes) {
    const Lane& lane = calling_lane();
    Block& block = *lane.block;
    const unsigned number = number_of(lane), begin = number / threads * threads;
    Meeting& meeting = meeting_of(block, begin, std::min(begin + threads, static_cast<unsigned>(block.lanes.size())));
    std::vector<Meeting::Value>& values = meeting.values[meeting.phase % 2];
    if (bytes != 0) {
        if (values.size() != threads) {
            const Busy busy;
            values.resize(threads);
        }
        std::memcpy(&values[number - begin], value, bytes);
    }
    const std::uint32_t phase = Scheduler::instance().arrive(meeting, SIMT_SITE);
    Scheduler::instance().wait_for(meeting, phase, SIMT_SITE);
    const unsigned came = meeting.came[phase % 2];
    if (came < threads && (bytes != 0 || meeting.end - begin < threads)) {
        report(Kind::collective, "", SIMT_SITE, [&] {
            const bool short_block = meeting.end - begin < threads;
            return fmt::format("only {} threads of a tile of {} come to this call: {}", came, threads,
                               short_block ? "the block has no more" : "the others have ended");
        });
    }
    return values.data();
}

void value_met(const void* values, unsigned int rank, void* value, std::size_t bytes) {
    std::memcpy(value, static_cast<const Meeting::Value*>(values) + rank, bytes);
}

void too_many_arrivals(unsigned int expected) {
    report(Kind::barrier, "", SIMT_SITE, [&] {
        return fmt::format("more threads arrive at a cuda::barrier than the {} that it was made for", expected);
    });
    Scheduler::instance().abandon(cudaErrorLaunchFailure);
}

}  // namespace simt
