// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <numeric>

#include "checker/simt/runtime/async_copies.h"
#include "checker/simt/runtime/chosen.h"
#include "checker/simt/runtime/collectives.h"
#include "checker/simt/runtime/faults.h"
#include "checker/simt/runtime/findings.h"
#include "checker/simt/runtime/hot.h"
#include "checker/simt/runtime/memory.h"
#include "checker/simt/runtime/races.h"
#include "checker/simt/runtime/sampling.h"
#include "checker/simt/runtime/state.h"
#include "checker/simt/runtime/traffic_ledger.h"
#include "checker/simt/runtime/traffic_trace.h"

// The built-in variables of checker/simt/include/simt/indices.h, which are constants to kernels.
uint3 threadIdx;
uint3 blockIdx;
uint3 blockDim;
uint3 gridDim;

namespace simt {
namespace {

using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point begin) {
    return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

// For how long, and at least how often, polling threads may look at memory that nobody changes.
constexpr double kIdleSeconds = 2;
constexpr int kIdleRounds = 1000;
// Looks at memory before the others get their turn.
constexpr unsigned kPollsInARow = 32;
// How often a warp whose accesses are counted may meet while it polls, before the others get their turn.
constexpr int kRoundsOfPolls = 1000;

std::string text_of(uint3 v) {
    return fmt::format("({}, {}, {})", v.x, v.y, v.z);
}

}  // namespace

Block::Block() = default;
Block::~Block() = default;

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

Scheduler& Scheduler::instance() {
    static auto& scheduler = *new Scheduler;  // never destroyed: findings at the end of the process name its launch
    return scheduler;
}

cudaError_t Scheduler::run(const Launch& launch) {
    launch_ = &launch;
    error_ = cudaSuccess;
    random_ = Random(seed() * 0x2545f4914f6cdd1dU + launches_++);
    gridDim = launch.grid;
    blockDim = launch.block;
    loaded_ = nullptr;
    shared_.configure(launch.module, launch.dynamic_bytes);
    const OpenMemory open;
    hot.launcher = pthread_self();
    hot.device_bytes = hot.checking ? Memory::kReserved : 0;
    TrafficTrace& traffic = TrafficTrace::instance();
    traffic.begin_launch(launch);
    Races& races = Races::instance();
    races.begin_launch(launch);
    look_for_chosen(launch);
    const FaultWatch watch;

    const std::vector<std::uint64_t>* sampled = launch.cooperative ? nullptr : sample(launch.kernel, launch.grid);
    const std::uint64_t blocks =
        sampled != nullptr ? sampled->size() : std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    const Shuffled order(blocks, random_);
    std::uint64_t next = 0;
    waiting_blocks_ = blocks;
    std::size_t polling = 0;          // blocks in a row that only polled
    std::size_t at_grid_barrier = 0;  // blocks in a row that only wait for the others
    int idle_rounds = 0;
    std::uint64_t changes = hot.changes;
    std::uint64_t steps = steps_;
    steady_clock::time_point last_change, last_step = steady_clock::now();
    while (error_ == cudaSuccess && (next < blocks || !resident_.empty())) {
        if (polling >= resident_.size() && next < blocks && resident_.size() < kResidentBlocks) {
            const std::uint64_t number = order[next++];
            waiting_blocks_ = blocks - next;
            resident_.push_front(new_block(sampled != nullptr ? (*sampled)[number] : number));
            polling = at_grid_barrier = 0;
        } else if (at_grid_barrier > 0 && at_grid_barrier >= resident_.size()) {
            complete_grid_barrier(blocks);
            polling = at_grid_barrier = 0;
            continue;
        } else if (polling > 0 && polling >= resident_.size()) {
            // Every block that can be resident is, and has had its turn.
            polling = 0;
            if (changes != hot.changes || idle_rounds == 0) {
                idle_rounds = 0;
                last_change = steady_clock::now();
            }
            changes = hot.changes;
            if (++idle_rounds > kIdleRounds && seconds_since(last_change) > kIdleSeconds) {
                name_endless_polling("and nothing that still runs changes it");
                break;
            }
            if (steps != steps_) {
                steps = steps_;
                last_step = steady_clock::now();
            } else if (seconds_since(last_step) > time_limit()) {
                name_endless_polling("and no thread has come to an end or past a barrier for SIMT_TIME_LIMIT seconds");
                break;
            }
        }
        Block* block = resident_.front();
        resident_.pop_front();
        turn_to(*block);
        const Outcome outcome = run_block(*block);
        if (outcome == Outcome::done) {
            release(*block);
            polling = at_grid_barrier = 0;
        } else {
            resident_.push_back(block);
            polling++;
            at_grid_barrier = outcome == Outcome::at_grid_barrier ? at_grid_barrier + 1 : 0;
        }
    }
    while (!resident_.empty()) {
        release(*resident_.front());
        resident_.pop_front();
    }
    races.end_launch();
    hot.lane = nullptr;
    if (traffic.on()) {
        note_traffic(launch, next, traffic.end_launch());
    }
    if (chosen_launch) {
        end_chosen_launch();
    }
    hot.device_bytes = hot.checking ? Memory::kHostVisible : 0;
    return error_;
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
    block.image = nullptr;
    block.copies = nullptr;
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
        lane.polls = 0;
        if (lane.number == 0) {
            warp.lanes = &lane;
        }
        warp.present |= 1U << lane.number;
    }
    for (Warp& warp : block.warps) { warp.ready = warp.present; }
    Races::instance().begin_block(block);
    return &block;
}

void Scheduler::release(Block& block) {
    for (Lane& lane : block.lanes) {
        if (lane.state != LaneState::exited && lane.stack.begin != nullptr) {
            stacks_.give_back(lane.stack);
        }
    }
    if (loaded_ == &block) {
        loaded_ = nullptr;
    }
    Races::instance().end_block(block);
    const auto entry =
        std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& other) { return other.get() == &block; });
    idle_.push_back(std::move(*entry));
    blocks_.erase(entry);
}

void Scheduler::turn_to(Block& block) {
    blockIdx = block.index;
    Races::instance().turn_to(block);
    if (loaded_ == &block) {
        return;
    }
    if (loaded_ != nullptr) {
        if (loaded_->image == nullptr) {
            loaded_->image = std::make_unique<SharedImage>();
        }
        shared_.save(*loaded_->image);
    }
    if (block.image == nullptr) {
        shared_.begin_block();
    } else {
        shared_.load(*block.image);
    }
    loaded_ = &block;
}

Scheduler::Outcome Scheduler::run_block(Block& block) {
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
        bool ran = false;
        block.released = false;
        for (unsigned i = 0; i < warps && !block.released; i++) {
            Warp& warp = block.warps[order[i]];
            if (warp.ready != 0) {
                ran = true;
                if (!run_warp(block, warp)) {
                    return Outcome::failed;
                }
            }
        }
        if (block.alive == 0) {
            return Outcome::done;
        }
        if (!ran) {
            const bool polls =
                std::any_of(block.warps.begin(), block.warps.end(), [](const Warp& warp) { return warp.polling != 0; });
            const bool waits_for_the_grid = std::all_of(block.lanes.begin(), block.lanes.end(), [](const Lane& lane) {
                return lane.state == LaneState::at_grid_barrier || lane.state == LaneState::exited;
            });
            if (waits_for_the_grid) {
                return Outcome::at_grid_barrier;
            }
            if (!polls) {
                name_deadlock(block);
                error_ = cudaErrorLaunchFailure;
                return Outcome::failed;
            }
            return Outcome::polling;
        }
    }
}

// Gives the warp its turn. If its accesses are counted, the turn lasts until none of its lanes can go on: then all
// that they did can be merged. False if the launch was abandoned.
bool Scheduler::run_warp(Block& block, Warp& warp) {
    TrafficTrace& traffic = TrafficTrace::instance();
    if (!traffic.on()) {
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
            for (unsigned lanes = traffic.merge(warp, more) | (others_turn ? warp.trace_full : 0); lanes != 0;
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
        const unsigned number = (down ? start - i : start + i) % kLanes;
        if ((warp.ready >> number & 1U) == 0) {
            continue;
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
    scheduler.launch_->body(scheduler.launch_->parameters);
    scheduler.exit_lane(lane);
    boost::context::detail::jump_fcontext(scheduler.context_, nullptr);
    __builtin_unreachable();
}

void Scheduler::resume(Lane& lane) {
    if (lane.context == nullptr) {
        lane.stack = stacks_.take();
        lane.context = boost::context::detail::make_fcontext(lane.stack.end(), Stack::kBytes, start_lane);
    }
    slices_++;
    lane.polls = 0;
    threadIdx = lane.thread;
    hot.lane = &lane;
    Races& races = Races::instance();
    const std::uint32_t thread = static_cast<std::uint32_t>(&lane - lane.block->lanes.data());
    races.begin_lane(thread);
    if (chosen_launch) [[unlikely]] {
        turn_to_chosen(lane);
    }
    TrafficTrace& traffic = TrafficTrace::instance();
    if (traffic.on()) {
        traffic.begin_lane(lane);
    }
    lane.context = boost::context::detail::jump_fcontext(lane.context, &lane).fctx;
    if (traffic.on()) {
        traffic.end_lane(lane);
    }
    if (chosen_launch) [[unlikely]] {
        turn_from_chosen(lane);
    }
    races.end_lane(thread);
    hot.lane = nullptr;
    if (lane.state == LaneState::exited && lane.stack.begin != nullptr) {
        stacks_.give_back(lane.stack);
        lane.stack = {};
    }
}

void Scheduler::suspend(Lane& lane, LaneState state, const void* site) {
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
    steps_++;
    lane.block->alive--;
    complete_barrier(*lane.block);
    complete_all_collectives(*lane.warp);
}

// ---- barriers ---------------------------------------------------------------------------------------------------------

// The lane waits, and returns from here when it is woken.
static void wait(Context& scheduler) {
    scheduler = boost::context::detail::jump_fcontext(scheduler, nullptr).fctx;
}

int Scheduler::barrier(BarrierKind kind, int predicate, const void* site) {
    Lane& lane = calling_lane();
    Block& block = *lane.block;
    auto& barrier = block.barrier;
    if (tracing) {
        trace_wait("barrier", site);
    }
    if (hot.trace.next != nullptr) {
        note_in_trace(packed(0, TraceKind::barrier, 0), site);
    }
    if (barrier.arrived == 0) {
        barrier.kind = kind;
        barrier.site = site;
        barrier.count = 0;
    } else if (site != barrier.site && hot.checking) {
        SourceLine first = source_of(barrier.site);
        SourceLine second = source_of(site);
        if (!(first == second)) {
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
    complete_barrier(block);
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
    const int exited = static_cast<int>(block.lanes.size() - block.alive);
    for (Lane& lane : block.lanes) {
        if (lane.state == LaneState::at_barrier) {
            lane.predicate = barrier.kind == BarrierKind::all ? barrier.count + exited : barrier.count;
            wake(lane);
        }
    }
    barrier.arrived = 0;
    Races::instance().pass_barrier();
    block.released = true;
    steps_++;
    return true;
}

void Scheduler::grid_barrier(const void* site) {
    if (!launch_->cooperative) {
        report(Kind::barrier, "", site, [] {
            return "a grid's sync() in a launch that is not cooperative: cudaLaunchCooperativeKernel makes one";
        });
        abandon(cudaErrorLaunchFailure);
    }
    if (hot.trace.next != nullptr) {
        note_in_trace(packed(0, TraceKind::barrier, 0), site);
    }
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
    Races::instance().pass_grid_barrier();
    hot.lane = nullptr;
    steps_++;
}

// ---- warp collectives ---------------------------------------------------------------------------------------------------

void Scheduler::collective(Collective& request) {
    Lane& lane = calling_lane();
    Warp& warp = *lane.warp;
    if (tracing) {
        trace_collective(lane, request);
    }
    if (hot.trace.next != nullptr) {
        note_in_trace(packed(request.mask, TraceKind::collective, 0), request.site);
    }
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

// The lanes of the warp that wait in the same call: in the same function, with the same mask.
static unsigned lanes_in(const Warp& warp, const Collective& call) {
    unsigned together = 0;
    for (unsigned lanes = warp.at_collective; lanes != 0; lanes &= lanes - 1) {
        const Lane& lane = warp.lanes[std::countr_zero(lanes)];
        const Collective& other = lane.collective;
        const bool same = other.mask == call.mask && other.kind == call.kind && other.operation == call.operation;
        together |= same ? 1U << lane.number : 0;
    }
    return together;
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
        Races::instance().sync_lanes(static_cast<unsigned>(&warp - warp.lanes->block->warps.data()), needed,
                                     warp.present & ~warp.exited);
    }
    for (unsigned lanes = needed; lanes != 0; lanes &= lanes - 1) { wake(warp.lanes[std::countr_zero(lanes)]); }
    steps_++;
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
    if (++calling_lane().polls >= kPollsInARow) {
        yield(site);
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

// ---- what can never go on ----------------------------------------------------------------------------------------------

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
std::string where_they_are(const Warp& warp, unsigned lanes) {
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
                               where_they_are(warp, missing));
        });
        hot.lane = nullptr;
        return;
    }
    // No lane is in a collective: some wait for the block, and some for the grid.
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
}

void Scheduler::name_endless_polling(const char* why) {
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
        std::string text = fmt::format("an endless loop: {} thread{} look{} at memory over and over, {}", polling,
                                       polling == 1 ? "" : "s", polling == 1 ? "s" : "", why);
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
