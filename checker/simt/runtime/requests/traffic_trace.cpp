// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/requests/traffic_trace.h"

#include <fmt/core.h>
#include <unwind.h>

#include <algorithm>
#include <bit>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/random.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

constexpr std::size_t kMostFrames = 64;  // of deeper calls only the innermost ones count

struct Frames {
    std::array<std::uintptr_t, kMostFrames> addresses{};
    std::size_t count = 0;
};

// Return addresses of the calls that lead here, the innermost first.
Frames frames_now() {
    Frames frames;
    _Unwind_Backtrace(
        [](_Unwind_Context* context, void* data) {
            auto& all = *static_cast<Frames*>(data);
            const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
            if (address == 0 || all.count == kMostFrames) {
                return _URC_END_OF_STACK;
            }
            all.addresses[all.count++] = address;
            return _URC_NO_REASON;
        },
        &frames);
    return frames;
}

const Symbol* function_at(std::uintptr_t address) {
    const Module* module = module_of(reinterpret_cast<const void*>(address));
    return module == nullptr ? nullptr : module->function_at(address);
}

}  // namespace

TrafficTrace& TrafficTrace::instance() {
    static auto& trace = *new TrafficTrace;  // never destroyed, as the scheduler
    return trace;
}

// ---- recording --------------------------------------------------------------------------------------------------------

bool TrafficTrace::begin_launch(const Launch& launch) {
    if (!wants_traffic() || !hot.checking) {
        return false;
    }
    launch_ = &launch;
    if (entries_ == nullptr) {
        entries_ = std::make_unique<std::array<Entries, kLanes>>();
    }
    for (std::size_t lane = 0; lane < kLanes; lane++) { begin_[lane] = end_[lane] = (*entries_)[lane].entries.data(); }
    paths_.assign(1, {});
    path_numbers_.clear();
    present_ = 0;
    warp_ = nullptr;
    hot.trace.main_begin = hot.trace.main_bytes = 0;  // the first access finds it
    hot.trace.merge = [](const Warp& warp, unsigned more) { return instance().merge(warp, more); };
    return true;
}

LaunchTrace TrafficTrace::end_launch() {
    hot.trace = {};
    by_place_.clear();
    near_.fill({});
    uneven_.clear();
    unfinished_.clear();
    copying_.clear();
    const dim3 grid = launch_->grid;
    const std::uint64_t idle = runs_.idle();
    return {std::move(sites_), runs_.end_launch(std::uint64_t{grid.x} * grid.y * grid.z), idle};
}

void TrafficTrace::begin_lane(const Lane& lane) {
    hot.trace.next = end_[lane.number];
    hot.trace.end = (*entries_)[lane.number].entries.data() + kEntries;
}

void TrafficTrace::end_lane(const Lane& lane) {
    end_[lane.number] = hot.trace.next;
    hot.trace.next = nullptr;
}

void wait_for_trace(const void* site) {
    Scheduler::instance().wait_for_trace(site);
}

void note_span_in_trace(std::uintptr_t address, std::size_t bytes, TraceKind kind, const void* site) {
    while (bytes > 0) {
        std::size_t piece = 16;
        while (piece > bytes || address % piece != 0) { piece /= 2; }
        note_in_trace(packed(address, kind, piece), site);
        address += piece;
        bytes -= piece;
    }
}

std::uint16_t TrafficTrace::path_to(std::uintptr_t site) {
    const InRuntime in_runtime;
    const Frames frames = frames_now();
    const auto* const begin = frames.addresses.begin();
    const auto* const end = begin + frames.count;
    const auto* const here = std::find(begin, end, site);
    if (hot.trace.main_bytes == 0) {
        const Symbol* function = function_at(reinterpret_cast<std::uintptr_t>(launch_->code));
        // If it is not known, each access goes by its own address.
        hot.trace.main_begin = function == nullptr ? 0 : function->begin;
        hot.trace.main_bytes = function == nullptr ? ~std::size_t{0} : function->bytes + 1;  // a return address
    }
    if (site - hot.trace.main_begin < hot.trace.main_bytes) {
        return 0;
    }
    const auto* const outermost = std::find_if(
        here, end, [](std::uintptr_t address) { return address - hot.trace.main_begin < hot.trace.main_bytes; });
    Path path(here, outermost == end ? end : outermost + 1);
    if (!path.empty()) {
        path.erase(path.begin());  // the site itself
    }
    std::reverse(path.begin(), path.end());
    const auto [known, is_new] = path_numbers_.try_emplace(path, static_cast<std::uint16_t>(paths_.size()));
    if (is_new) {
        if (paths_.size() == kLostPath) {
            path_numbers_.erase(known);
            return kLostPath;
        }
        paths_.push_back(std::move(path));
    }
    return known->second;
}

// ---- merging ----------------------------------------------------------------------------------------------------------

// Whether the first access comes before the second in the code. What is called from a line comes before what follows
// the call.
bool TrafficTrace::before(std::uint64_t a, std::uint64_t b) const {
    const auto path_a = static_cast<std::uint16_t>(a), path_b = static_cast<std::uint16_t>(b);
    if (path_a == path_b || path_a == kLostPath || path_b == kLostPath) {
        return a < b;
    }
    const Path& calls_a = paths_[path_a];
    const Path& calls_b = paths_[path_b];
    for (std::size_t depth = 0;; depth++) {
        const bool ends_a = depth == calls_a.size(), ends_b = depth == calls_b.size();
        const std::uintptr_t at_a = ends_a ? a >> 16 : calls_a[depth];
        const std::uintptr_t at_b = ends_b ? b >> 16 : calls_b[depth];
        if (at_a != at_b || ends_a || ends_b) {
            return at_a < at_b;
        }
    }
}

// The access's own address, or, where that has no line (in a function of a library), that of the innermost call on the
// way to it that has one.
std::uintptr_t TrafficTrace::address_with_line(std::uint64_t where) const {
    const auto has_line = [](std::uintptr_t address) {
        return !source_of(reinterpret_cast<const void*>(address)).file.empty();
    };
    const std::uintptr_t address = where >> 16;
    const auto path = static_cast<std::uint16_t>(where);
    if (path == 0 || path == kLostPath || has_line(address)) {
        return address;
    }
    const Path& calls = paths_[path];
    const auto call = std::find_if(calls.rbegin(), calls.rend(), has_line);
    return call == calls.rend() ? address : *call;
}

TrafficSite& TrafficTrace::site_of(std::uint64_t where, std::uint64_t what) {
    const TraceKind kind = kind_of(what);
    Near& near = near_[(where >> 16 ^ where >> 24 ^ where ^ static_cast<std::uint64_t>(kind)) % kNear];
    if (near.where == where && near.site != nullptr && near.site->kind == kind) {
        return *near.site;
    }
    const InRuntime in_runtime;
    const std::uintptr_t address = address_with_line(where);
    const std::uintptr_t place = kind == TraceKind::arithmetic ? where >> 16 : address;  // each block by itself
    TrafficSite*& site = by_place_[place << 16 | static_cast<std::uint64_t>(kind)];
    if (site == nullptr) {
        sites_.push_back(std::make_unique<TrafficSite>(address, kind, pool_));
        site = sites_.back().get();
        site->block = place;
        const SharedMemory& shared = Scheduler::instance().shared();
        site->ignored = is_access(site->kind) && !is_global(site->kind) && shared.is_flag(address_of(what));
    }
    near = {where, site};
    return *site;
}

void TrafficTrace::count(std::uint64_t where, const std::uint64_t* what, const std::uint8_t* lanes, unsigned count,
                         unsigned mask) {
    TrafficSite& site = site_of(where, what[0]);
    if (site.kind == TraceKind::landed || site.kind == TraceKind::shared_copy) {
        unsigned& copying = copying_[warp_];
        copying = site.kind == TraceKind::landed ? copying & ~mask : copying | mask;
    }
    if (site.ignored || is_mark(site.kind)) {
        return;
    }
    count_request(site, {what, lanes, count}, *block_);
    if (site.kind == TraceKind::shared_load && !copying_.empty()) {
        const unsigned overlapped = mask & copying_[warp_];
        site.traffic.shared_loads.bytes_overlapped +=
            std::uint64_t{bytes_of(what[0])} * static_cast<unsigned>(std::popcount(overlapped));
    }
    if (mask != present_ && is_access(site.kind)) {
        if (!site.uneven_noted) {
            site.uneven_noted = true;
            uneven_.push_back(&site);
        }
        for (unsigned i = 0; i < count; i++) { site.uneven += weights_[lanes[i]]; }
    }
}

bool TrafficTrace::comes_to(unsigned lane, std::uint64_t where) const {
    return std::any_of(begin_[lane], end_[lane], [&](const TraceEntry& entry) { return entry.where == where; });
}

// Whether all that the lane does before it comes to `where` is to compute, and something there is.
bool TrafficTrace::evaluates_before(unsigned lane, std::uint64_t where) const {
    const TraceEntry* const next = std::find_if(
        begin_[lane], end_[lane], [](const TraceEntry& entry) { return !is_evaluation(kind_of(entry.what)); });
    return next != begin_[lane] && next != end_[lane] && next->where == where;
}

// The lanes that go next: among those that do not wait for others at a collective, the ones with the lowest address.
// If all of them wait for lanes that have gone elsewhere, the ones with the lowest address all the same.
unsigned TrafficTrace::choose(unsigned active, unsigned more) const {
    const auto at = [&](unsigned lanes, std::uint64_t where) {
        unsigned there = 0;
        for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
            there |= begin_[std::countr_zero(rest)]->where == where ? rest & -rest : 0;
        }
        return there;
    };
    unsigned free = 0;
    for (unsigned lanes = active; lanes != 0; lanes &= lanes - 1) {
        const std::uint64_t what = begin_[std::countr_zero(lanes)]->what;
        bool waits = false;
        if (is_meeting(kind_of(what))) {
            for (unsigned others = static_cast<unsigned>(what >> 16) & (active | more); others != 0;
                 others &= others - 1) {
                const auto other = static_cast<unsigned>(std::countr_zero(others));
                waits = waits || (active >> other & 1U) == 0 || begin_[other]->what != what;
            }
        }
        free |= waits ? 0 : lanes & -lanes;
    }
    free = free != 0 ? free : active;
    const std::uint64_t* lowest = nullptr;
    for (unsigned lanes = free; lanes != 0; lanes &= lanes - 1) {
        const std::uint64_t& where = begin_[std::countr_zero(lanes)]->where;
        lowest = lowest == nullptr || before(where, *lowest) ? &where : lowest;
    }
    const unsigned chosen = at(free, *lowest);
    bool jumps_back = false;
    for (unsigned lanes = chosen; lanes != 0; lanes &= lanes - 1) {
        const std::uint64_t last = last_[static_cast<unsigned>(std::countr_zero(lanes))];
        jumps_back = jumps_back || last == *lowest || before(*lowest, last);
    }
    for (unsigned rest = free & ~chosen; jumps_back && rest != 0;) {
        const std::uint64_t where = begin_[std::countr_zero(rest)]->where;
        const unsigned there = at(rest, where);
        bool awaits_others = (more & ~there) != 0;  // it is not known yet where these will go
        for (unsigned others = active & ~there; others != 0 && !awaits_others; others &= others - 1) {
            awaits_others = comes_to(static_cast<unsigned>(std::countr_zero(others)), where);
        }
        for (unsigned lanes = there; lanes != 0 && awaits_others; lanes &= lanes - 1) {
            awaits_others = !evaluates_before(static_cast<unsigned>(std::countr_zero(lanes)), *lowest);
        }
        if (!awaits_others) {
            return there;
        }
        rest &= ~there;
    }
    return chosen;
}

unsigned TrafficTrace::merge(const Warp& warp, unsigned more) {
    const InRuntime in_runtime;
    if (warp.present != present_) {
        present_ = warp.present;
        Random random(present_);
        std::uint64_t sum = 0;
        for (unsigned lanes = present_; lanes != 0; lanes &= lanes - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
            weights_[lane] = (lanes & (lanes - 1)) == 0 ? 0 - sum : random.next();
            sum += weights_[lane];
        }
    }
    if (const auto known = unfinished_.find(&warp); known != unfinished_.end()) {
        for (const auto& [site, sum] : known->second) {
            site->uneven = sum;
            site->uneven_noted = true;
            uneven_.push_back(site);
        }
        unfinished_.erase(known);
    }
    if (warp_ != &warp) {
        warp_ = &warp;
        block_ = &runs_.of(number_of(*warp.lanes->block));
        last_.fill(0);
    }
    unsigned active = 0;
    for (unsigned lane = 0; lane < kLanes; lane++) { active |= begin_[lane] < end_[lane] ? 1U << lane : 0; }

    std::array<std::uint64_t, kLanes> what;
    std::array<std::uint8_t, kLanes> lanes;
    while (active != 0 && (more & ~active) == 0) {
        unsigned n = 0;
        std::size_t steps = kEntries;
        for (unsigned rest = active; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            lanes[n++] = static_cast<std::uint8_t>(lane);
            steps = std::min(steps, static_cast<std::size_t>(end_[lane] - begin_[lane]));
        }
        // As long as all lanes are at the same place, they go together.
        std::size_t step = 0;
        for (; step < steps; step++) {
            const TraceEntry first = begin_[lanes[0]][step];
            std::uint64_t differs = 0;
            for (unsigned i = 0; i < n; i++) {
                const TraceEntry& entry = begin_[lanes[i]][step];
                differs |= (entry.where ^ first.where) | ((entry.what ^ first.what) & 0xffffU);
                what[i] = entry.what;
            }
            if (differs != 0) {
                break;
            }
            count(first.where, what.data(), lanes.data(), n, active);
        }
        for (unsigned i = 0; i < n && step > 0; i++) {
            begin_[lanes[i]] += step;
            last_[lanes[i]] = begin_[lanes[i]][-1].where;
        }
        if (step < steps) {
            unsigned chosen = choose(active, more);
            const TraceEntry first = *begin_[std::countr_zero(chosen)];
            n = 0;
            unsigned taken = 0;
            for (; chosen != 0; chosen &= chosen - 1) {
                const auto lane = static_cast<unsigned>(std::countr_zero(chosen));
                // One instruction may go to global memory in some lanes and to shared memory in others: two requests.
                if (((begin_[lane]->what ^ first.what) & 0xffffU) == 0) {
                    lanes[n] = static_cast<std::uint8_t>(lane);
                    last_[lane] = first.where;
                    what[n++] = begin_[lane]++->what;
                    taken |= 1U << lane;
                }
            }
            count(first.where, what.data(), lanes.data(), n, taken);
        }
        for (unsigned lane = 0; lane < kLanes; lane++) { active &= begin_[lane] == end_[lane] ? ~(1U << lane) : ~0U; }
    }
    // What is left moves to the front.
    unsigned with_room = 0;
    for (unsigned lane = 0; lane < kLanes; lane++) {
        TraceEntry* const front = (*entries_)[lane].entries.data();
        end_[lane] = begin_[lane] == front ? end_[lane] : std::move(begin_[lane], end_[lane], front);
        begin_[lane] = front;
        with_room |= end_[lane] < front + kEntries ? 1U << lane : 0;
    }
    finish_warp(warp);
    return with_room & more;
}

void TrafficTrace::end_block(const Block& block) {
    const InRuntime in_runtime;
    runs_.end_block(number_of(block));
}

std::uint64_t TrafficTrace::number_of(const Block& block) const {
    const dim3 grid = launch_->grid;
    return block.index.x + std::uint64_t{grid.x} * (block.index.y + std::uint64_t{grid.y} * block.index.z);
}

void TrafficTrace::finish_warp(const Warp& warp) {
    const bool over = warp.exited == warp.present;
    std::vector<std::pair<TrafficSite*, std::uint64_t>> rest;
    for (TrafficSite* site : uneven_) {
        if (site->uneven != 0 && over) {
            site->traffic.uneven++;
        } else if (site->uneven != 0) {
            rest.emplace_back(site, site->uneven);
        }
        site->uneven = 0;
        site->uneven_noted = false;
    }
    uneven_.clear();
    if (over) {
        copying_.erase(warp_);
        warp_ = nullptr;
    }
    if (!rest.empty()) {
        unfinished_[&warp] = std::move(rest);
    }
}

}  // namespace simt
