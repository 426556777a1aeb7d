// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/threads/scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/shadows.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/collectives.h"
#include "checker/simt/runtime/threads/faults.h"
#include "checker/simt/runtime/threads/partial_barriers.h"

// The built-in variables of checker/simt/include/simt/indices.h, which are constants to kernels.
uint3 threadIdx;
uint3 blockIdx;
uint3 blockDim;
uint3 gridDim;

namespace simt {
namespace {

// Turns that each polling thread gets at least before its loop is called endless.
constexpr int kIdleRounds = 20;
// How often a warp whose accesses are counted may meet while it polls, before the others get their turn.
constexpr int kRoundsOfPolls = 1000;

// How long threads that poll may still see what they wait for.
class Patience {
  public:
    // All resident blocks have only polled in their turn. Returns true if that can never end: no memory has
    // changed, and no thread has looked at other words than before.
    bool is_lost() {
        if (changes_ != hot.counts.changes() || idle_rounds_ == 0) {
            idle_rounds_ = 0;
            last_change_ = processor_seconds();
        }
        changes_ = hot.counts.changes();
        return ++idle_rounds_ > kIdleRounds && processor_seconds() - last_change_ >= patience();
    }

  private:
    std::uint64_t changes_ = hot.counts.changes();
    int idle_rounds_ = 0;
    double last_change_ = processor_seconds();
};

std::string text_of(uint3 v) {
    return fmt::format("({}, {}, {})", v.x, v.y, v.z);
}

}  // namespace

Block::Block() = default;
Block::~Block() = default;

// What the lane used last, since it was asked last.
static void note_use(Lane& lane) {
    if (hot.site != nullptr) {
        lane.used_at = std::exchange(hot.site, nullptr);
        lane.used = lane.statements_left;
    }
}

Lane& calling_lane() {
    if (hot.lane == nullptr) {
        fmt::print(stderr, "simt: host code called a function of the device (a barrier, a shuffle, …)\n");
        std::exit(1);
    }
    return *hot.lane;
}

std::string text_of(const Lane& lane) {
    return fmt::format("block {}, thread {}", text_of(lane.block->index), text_of(lane.thread));
}

std::string running_kernel_name() {
    return Scheduler::instance().launch().kernel;
}

Scheduler::Scheduler() {
    running_now.kernel = running_kernel_name;
    running_now.thread = text_of;
}

Scheduler& Scheduler::instance() {
    static auto& scheduler = *new Scheduler;  // never destroyed: findings at the end of the process name its launch
    return scheduler;
}

cudaError_t Scheduler::run(const Launch& launch, unsigned order, Sample* sample) {
    launch_ = &launch;
    error_ = cudaSuccess;
    launches_ += order == 0 ? 1 : 0;
    random_ = Random(seed() * 0x2545f4914f6cdd1dU + (launches_ - 1) + order / 2 * 0x9e3779b97f4a7c15U);
    reversed_ = order % 2 == 1;
    gridDim = launch.grid;
    blockDim = launch.block;
    loaded_ = nullptr;
    shared_.configure(launch.module, launch.dynamic_bytes);
    const OpenMemory open;
    hot.launcher = pthread_self();
    hot.device_bytes = !hot.checking ? 0 : hot.one_host_thread ? Memory::kReserved : Memory::kHostVisible;
    begin_observers(launch);
    const FaultWatch watch;

    const std::uint64_t begun = run_blocks(sample);
    block_ends_by_ = std::numeric_limits<double>::infinity();
    SharedMemory::end_launch();
    give_out_addresses_in_host_memory();
    hot.lane = nullptr;
    for (const LaunchObserver* observer : launch_observers) {
        if (observer->end_launch != nullptr) {
            observer->end_launch(launch, begun);
        }
    }
    hot.device_bytes = hot.checking ? Memory::kHostVisible : 0;
    return error_;
}

void Scheduler::begin_observers(const Launch& launch) {
    follower_count_ = 0;
    for (const LaunchObserver* observer : launch_observers) {
        if (observer->begin_launch(launch)) {
            followers_[follower_count_++] = observer;
        }
    }
}

std::uint64_t Scheduler::run_blocks(Sample* sample) {
    const dim3 grid = launch_->grid;
    const std::uint64_t blocks = sample != nullptr ? sample->blocks.size() : std::uint64_t{grid.x} * grid.y * grid.z;
    const double seconds = sample != nullptr ? sample->seconds : 0, launched = processor_seconds();
    const Shuffled order(blocks, random_);
    std::uint64_t begun = 0;
    waiting_blocks_ = blocks;
    std::size_t polling = 0;          // blocks in a row that only polled
    std::size_t at_grid_barrier = 0;  // blocks in a row that only wait for the others
    Patience patience;
    while (error_ == cudaSuccess && (begun < blocks || !resident_.empty())) {
        if (polling >= resident_.size() && begun < blocks && resident_.size() < kResidentBlocks) {
            // Blocks that are counted begin in the order of their numbers, as on a GPU (traffic_runs.h).
            const std::uint64_t number =
                hot.trace.merge != nullptr ? begun : order[reversed_ ? blocks - 1 - begun : begun];
            begun++;
            waiting_blocks_ = blocks - begun;
            resident_.push_front(new_block(sample != nullptr ? sample->blocks[number] : number));
            polling = at_grid_barrier = 0;
            if (seconds > 0) {
                const double part = seconds * static_cast<double>(begun) / static_cast<double>(blocks);
                block_ends_by_ =
                    std::min(std::max(processor_seconds() + seconds / 4, launched + part), launched + seconds);
            }
        } else if (at_grid_barrier > 0 && at_grid_barrier >= resident_.size()) {
            complete_grid_barrier(blocks);
            polling = at_grid_barrier = 0;
            continue;
        } else if (polling > 0 && polling >= resident_.size()) {
            // Every block that can be resident is, and has had its turn.
            polling = 0;
            if (patience.is_lost()) {
                name_endless_polling();
                break;
            }
        }
        Block* block = resident_.front();
        resident_.pop_front();
        switch_to(*block);
        const BlockOutcome outcome = run_block(*block);
        if (outcome == BlockOutcome::done) {
            release(*block, true);
            blocks_ended_++;
            polling = at_grid_barrier = 0;
        } else if (outcome == BlockOutcome::cut) {
            release(*block, false);
            sample->cut++;
            polling = at_grid_barrier = 0;
        } else {
            resident_.push_back(block);
            polling++;
            at_grid_barrier = outcome == BlockOutcome::at_grid_barrier ? at_grid_barrier + 1 : 0;
        }
    }
    while (!resident_.empty()) {
        release(*resident_.front(), false);
        resident_.pop_front();
    }
    return begun;
}

Block* Scheduler::new_block(std::uint64_t number) {
    if (idle_.empty()) {
        idle_.push_back(std::make_unique<Block>());
    }
    blocks_.push_back(std::move(idle_.back()));
    idle_.pop_back();
    Block& block = *blocks_.back();
    const dim3 grid = launch_->grid;
    const dim3 extent = launch_->block;
    block.index = {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
                   static_cast<unsigned>(number / grid.x / grid.y)};
    const unsigned threads = extent.x * extent.y * extent.z;
    block.alive = threads;
    block.barrier = {};
    block.released = false;
    block.slot = shared_.take_slot();
    block.is_saved = false;
    block.copies = nullptr;
    block.partial_barriers.clear();
    block.left.clear();
    block.ended = 0;
    block.lanes.resize(threads);
    block.warps.assign((threads + kLanes - 1) / kLanes, Warp{});
    for (unsigned t = 0; t < threads; t++) {
        Lane& lane = block.lanes[t];
        Warp& warp = block.warps[t / kLanes];
        lane.context = nullptr;
        lane.stack = {};
        lane.warp = &warp;
        lane.block = &block;
        lane.thread = {t % extent.x, t / extent.x % extent.y, t / extent.x / extent.y};
        lane.number = t % kLanes;
        lane.state = LaneState::ready;
        lane.site = nullptr;
        lane.polls = lane.looks = lane.next_word = 0;
        lane.words = {};
        lane.barrier_visits.clear();
        lane.statements_left = lane.used = 0;
        lane.used_at = nullptr;
        if (lane.number == 0) {
            warp.lanes = &lane;
        }
        warp.present |= 1U << lane.number;
    }
    for (Warp& warp : block.warps) { warp.ready = warp.present; }
    tell(&LaunchObserver::begin_block, block);
    return &block;
}

void Scheduler::release(Block& block, bool completed) {
    for (Lane& lane : block.lanes) {
        if (lane.state != LaneState::exited && lane.stack.begin != nullptr) {
            stacks_.give_back(lane.stack);
        }
    }
    if (loaded_ == &block) {
        loaded_ = nullptr;
    }
    shared_.give_back(block.slot);
    tell(&LaunchObserver::end_block, block, completed);
    const auto entry =
        std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& other) { return other.get() == &block; });
    idle_.push_back(std::move(*entry));
    blocks_.erase(entry);
}

void Scheduler::switch_to(Block& block) {
    blockIdx = block.index;
    tell(&LaunchObserver::resume_block, block);
    if (loaded_ == &block) {
        return;
    }
    if (loaded_ != nullptr) {
        shared_.save(loaded_->slot);
        loaded_->is_saved = true;
    }
    if (block.is_saved) {
        shared_.load(block.slot);
    } else {
        shared_.begin_block(block.slot);
    }
    loaded_ = &block;
}

std::optional<std::uintptr_t> Scheduler::shared_address(uint3 index, std::size_t offset) const {
    const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& one) {
        return one->index.x == index.x && one->index.y == index.y && one->index.z == index.z;
    });
    if (block == blocks_.end() || (block->get() != loaded_ && !(*block)->is_saved)) {
        return std::nullopt;
    }
    return block->get() == loaded_ ? shared_.address_of(offset) : shared_.address_of(offset, (*block)->slot);
}

Scheduler::BlockOutcome Scheduler::run_block(Block& block) {
    for (Warp& warp : block.warps) {
        for (unsigned lanes = warp.polling; lanes != 0; lanes &= lanes - 1) {
            wake(warp.lanes[std::countr_zero(lanes)]);
        }
    }
    std::array<unsigned, 32> order;
    const auto warps = static_cast<unsigned>(block.warps.size());
    while (true) {
        std::iota(order.begin(), order.begin() + warps, 0U);
        for (unsigned i = warps; i > 1; i--) { std::swap(order[i - 1], order[random_.below(i)]); }
        if (reversed_) {
            std::reverse(order.begin(), order.begin() + warps);
        }
        bool ran = false;
        block.released = false;
        for (unsigned i = 0; i < warps && !block.released; i++) {
            Warp& warp = block.warps[order[i]];
            if (warp.ready != 0) {
                ran = true;
                if (!run_warp(block, warp)) {
                    return std::exchange(cut_, false) ? BlockOutcome::cut : BlockOutcome::failed;
                }
            }
        }
        if (block.alive == 0) {
            return BlockOutcome::done;
        }
        if (!ran) {
            const bool polls =
                std::any_of(block.warps.begin(), block.warps.end(), [](const Warp& warp) { return warp.polling != 0; });
            const bool waits_for_the_grid = std::all_of(block.lanes.begin(), block.lanes.end(), [](const Lane& lane) {
                return lane.state == LaneState::at_grid_barrier || lane.state == LaneState::exited;
            });
            if (waits_for_the_grid) {
                return BlockOutcome::at_grid_barrier;
            }
            if (!polls) {
                name_deadlock(block);
                error_ = cudaErrorLaunchFailure;
                return BlockOutcome::failed;
            }
            return BlockOutcome::polling;
        }
    }
}

// Gives the warp its turn. If its accesses are counted, the turn lasts until none of its lanes can go on: then all
// that they did can be merged. False if the launch was abandoned.
bool Scheduler::run_warp(Block& block, Warp& warp) {
    if (hot.trace.merge == nullptr) {
        return run_lanes(block, warp);
    }
    const std::uint64_t polls = polls_;
    bool others_turn = false;
    for (int round = 0; !others_turn && !block.released && warp.ready != 0; round++) {
        if (!run_lanes(block, warp)) {
            return false;
        }
        // Lanes that poll and then meet, over and over, wait for another warp.
        others_turn = round == kRoundsOfPolls && polls != polls_;
        if (block.released || warp.ready == 0 || others_turn) {
            const unsigned more = others_turn ? 0 : warp.trace_full;
            for (unsigned lanes = hot.trace.merge(warp, more) | (others_turn ? warp.trace_full : 0); lanes != 0;
                 lanes &= lanes - 1) {
                wake(warp.lanes[std::countr_zero(lanes)]);
            }
        }
    }
    return true;
}

// Runs every ready lane once, beginning with a random one, up or down. False if the launch was abandoned.
bool Scheduler::run_lanes(Block& block, Warp& warp) {
    const std::uint64_t dice = random_.next();
    const unsigned start = static_cast<unsigned>(dice) % kLanes;
    const bool down = (dice & 0x100U) != 0;
    for (unsigned i = 0; i < kLanes && !block.released; i++) {
        const unsigned turn = reversed_ ? kLanes - 1 - i : i;
        const unsigned number = (down ? start - turn : start + turn) % kLanes;
        if ((warp.ready >> number & 1U) == 0) {
            continue;
        }
        if (processor_seconds() >= block_ends_by_) [[unlikely]] {
            cut_ = true;
            return false;
        }
        if (is_overdue()) [[unlikely]] {
            stop_overdue(warp.lanes[number]);
            return false;
        }
        resume(warp.lanes[number]);
        if (error_ != cudaSuccess) {
            return false;
        }
    }
    if (warp.at_active_mask != 0 && warp.ready == 0 && warp.trace_full == 0) {
        resolve_active_mask(warp);
    }
    return true;
}

void Scheduler::start_lane(boost::context::detail::transfer_t from) {
    Scheduler& scheduler = instance();
    scheduler.context_ = from.fctx;
    auto& lane = *static_cast<Lane*>(from.data);
    scheduler.launch_->body(scheduler.launch_->code, scheduler.launch_->parameters);
    scheduler.exit_lane(lane);
    boost::context::detail::jump_fcontext(scheduler.context_, nullptr);
    __builtin_unreachable();
}

void Scheduler::stop_overdue(Lane& lane) {
    hot.lane = &lane;
    report_overdue(lane.site != nullptr ? lane.site : launch_->entry);
    hot.lane = nullptr;
    error_ = cudaErrorLaunchTimeout;
}

void Scheduler::resume(Lane& lane) {
    if (lane.context == nullptr) {
        lane.stack = stacks_.take();
        // Frames of neighbouring threads begin in different lines of a page, or they would push each other out of the
        // processor's cache.
        const std::size_t shift = static_cast<std::size_t>(&lane - lane.block->lanes.data()) * 5 % 64 * 64;
        lane.context =
            boost::context::detail::make_fcontext(lane.stack.end() - shift, Stack::kBytes - shift, start_lane);
    }
    slices_++;
    lane.polls = lane.looks = 0;
    threadIdx = lane.thread;
    hot.lane = &lane;
    hot.site = nullptr;
    hot.stack_begin = reinterpret_cast<std::uintptr_t>(lane.stack.begin);
    const auto thread = static_cast<std::uint32_t>(&lane - lane.block->lanes.data());
    tell(&LaunchObserver::begin_slice, lane, thread);
    lane.context = boost::context::detail::jump_fcontext(lane.context, &lane).fctx;
    note_use(lane);
    tell(&LaunchObserver::end_slice, lane, thread);
    hot.lane = nullptr;
    hot.stack_begin = Hot::kNoStack;
    if (lane.state == LaneState::exited && lane.stack.begin != nullptr) {
        stacks_.give_back(lane.stack);
        lane.stack = {};
    }
}

void Scheduler::suspend(Lane& lane, LaneState state, const void* site) {
    if (hot.judge_expected != nullptr) [[unlikely]] {
        hot.judge_expected();
    }
    const unsigned bit = 1U << lane.number;
    lane.state = state;
    lane.site = site;
    lane.warp->ready &= ~bit;
    switch (state) {
        case LaneState::polling:
            lane.warp->polling |= bit;
            break;
        case LaneState::at_collective:
            lane.warp->at_collective |= bit;
            break;
        case LaneState::at_active_mask:
            lane.warp->at_active_mask |= bit;
            break;
        case LaneState::trace_full:
            lane.warp->trace_full |= bit;
            break;
        case LaneState::exited:
            lane.warp->exited |= bit;
            break;
        case LaneState::at_barrier:
        case LaneState::at_grid_barrier:
        case LaneState::at_partial_barrier:
        case LaneState::ready:
            break;
    }
}

void Scheduler::wake(Lane& lane) {
    const unsigned bit = 1U << lane.number;
    lane.state = LaneState::ready;
    lane.warp->polling &= ~bit;
    lane.warp->at_collective &= ~bit;
    lane.warp->at_active_mask &= ~bit;
    lane.warp->trace_full &= ~bit;
    lane.warp->ready |= bit;
}

void Scheduler::abandon(cudaError_t error) {
    error_ = error;
    boost::context::detail::jump_fcontext(context_, nullptr);
    __builtin_unreachable();
}

void Scheduler::exit_lane(Lane& lane) {
    suspend(lane, LaneState::exited, nullptr);
    lane.block->alive--;
    if (!lane.barrier_visits.empty()) {
        note_use(lane);
        lane.block->left.push_back(&lane);
    }
    complete_barrier(*lane.block);
    complete_all_collectives(*lane.warp);
    leave_partial_barriers(lane);
}

namespace {

BarrierVisit& barrier_visit_of(Lane& lane, unsigned statement) {
    auto known = std::find_if(lane.barrier_visits.begin(), lane.barrier_visits.end(),
                              [&](const BarrierVisit& visit) { return visit.statement == statement; });
    return known != lane.barrier_visits.end() ? *known
                                              : lane.barrier_visits.emplace_back(BarrierVisit{.statement = statement});
}

}  // namespace

unsigned enter_statement(unsigned number) noexcept {
    if (Lane* lane = running_lane(); lane != nullptr && hot.checking) {
        const InRuntime in_runtime;
        barrier_visit_of(*lane, number).entered++;
    }
    return 1;
}

unsigned leave_statement(unsigned number) noexcept {
    if (Lane* lane = running_lane(); lane != nullptr && hot.checking) {
        note_use(*lane);
        BarrierVisit& visit = barrier_visit_of(*lane, number);
        visit.left++;
        visit.at = ++lane->statements_left;
    }
    return 0;
}

}  // namespace simt
