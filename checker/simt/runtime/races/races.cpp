// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/races/races.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/threads/scheduler.h"

extern "C" char simt_dynamic_shared[];

namespace simt {
namespace {

constexpr std::size_t kMostLogs = 1U << 20;
constexpr std::size_t kMostSlices = 1U << 23;

bool is_volatile_in_shared(const Touched& touched) {
    return touched.shared && touched.strength != Strength::plain && !touched.atomic;
}

bool host_may_change(std::uintptr_t address) {
    if (Memory::instance().contains(address)) {
        return !Memory::instance().is_device_only(address);
    }
    const Module* module = module_of(reinterpret_cast<const void*>(address));
    return module != nullptr && module->section_of(address) == Section::managed;
}

std::uint64_t block_number(const Block& block, dim3 grid) {
    return block.index.x + std::uint64_t{grid.x} * (block.index.y + std::uint64_t{grid.y} * block.index.z);
}

// A meeting orders memory as an atomic of the block would: whoever arrives releases, whoever has waited acquires.
Touched as_touched(const PartialBarrier& partial_barrier, Touch touch, const void* site) {
    return {.address = reinterpret_cast<std::uintptr_t>(&partial_barrier),
            .bytes = 0,
            .touch = touch,
            .strength = Strength::block,
            .site = site,
            .shared = true,
            .also_reads = touch == Touch::write,
            .acquires = touch == Touch::read,
            .releases = touch == Touch::write};
}

// The one instance, from its first launch on: slices are too short to ask for it by instance().
Races* races = nullptr;

}  // namespace

constinit const LaunchObserver race_observer = {
    .begin_launch =
        [](const Launch& launch) {
            races = &Races::instance();
            races->begin_launch(launch);
            return hot.races.on;
        },
    .begin_block = [](Block& block) { races->begin_block(block); },
    .resume_block = [](Block& block) { races->switch_to(block); },
    .end_block = [](Block& block, bool) { races->end_block(block); },
    .begin_slice = [](const Lane&, std::uint32_t thread) { races->begin_lane(thread); },
    .end_slice = [](const Lane&, std::uint32_t thread) { races->end_lane(thread); },
    .arrive = [](const PartialBarrier& partial_barrier,
                 const void* site) { races->order_by(as_touched(partial_barrier, Touch::write, site)); },
    .leave = [](const PartialBarrier& partial_barrier,
                const void* site) { races->order_by(as_touched(partial_barrier, Touch::read, site)); },
    .pass_barrier = [](const void* site) { races->pass_barrier(site); },
    .pass_grid_barrier = [](const void* site) { races->pass_grid_barrier(site); },
    .sync_lanes = [](const Warp& warp, unsigned mask, const void* site) { races->sync_lanes(warp, mask, site); },
    .end_launch = [](const Launch&, std::uint64_t) { races->end_launch(); },
};

Races::Races() {
    const char* check = std::getenv("SIMT_CHECK");
    wanted_ = check == nullptr || std::string_view(check) != "noraces";
    hot.races.doubt = doubt;
}

Races& Races::instance() {
    static auto& races = *new Races;  // never destroyed, as the scheduler
    return races;
}

// ---- launches, blocks, lanes ------------------------------------------------------------------------------------------

bool Races::will_watch() const {
    return wanted() && !wants_traffic();
}

void Races::begin_launch(const Launch& launch) {
    HotRaces& me = hot.races;
    me.on = wanted() && !wants_traffic();
    launch_began_ = cell::kLastTime;
    leave_lane();
    if (!me.on) {
        return;
    }
    if (shadow_bytes_ > kMostShadow / 2 || me.now > cell::kLastTime / 2) {
        release_pages();
    }
    if (me.now > cell::kLastTime / 2) {
        me.now = 1;
    }
    // The first few numbers are given, one by one, to those of a launch's sites that lie far from its code.
    me.first_site = reinterpret_cast<std::uintptr_t>(launch.code) - cell::kMostSites / 2;
    far_sites_.clear();
    launch_began_ = me.launch = me.slice = me.barrier = me.now;
    me.now++;
    slices_.clear();
    links_.assign(1, Link{});
    for (const std::size_t slot : link_slots_) { link_table_[slot] = 0; }
    link_slots_.clear();
    released_.clear();
    logs_.clear();
    reported_.clear();
    stepped_aside_.clear();
    guesses_.clear();
    polls_.clear();
    last_volatile_write_ = nullptr;
    link_cache = {};
    me.coarse = false;
    fenced_ = synchronises_ = with_the_host_ = false;
    suspicion_.reset();
    current_ = nullptr;
    static_shared_begin_ = Scheduler::instance().shared().static_begin();
}

void Races::end_launch() {
    if (collect_ != nullptr && wanted()) {
        export_footprint();
    }
    for (auto& [block, state] : states_) { idle_.push_back(std::move(state)); }
    states_.clear();
    current_ = nullptr;
    suspicion_.reset();
    leave_lane();
    expose_shared();
}

void Races::begin_block(Block& block) {
    if (!hot.races.on) {
        return;
    }
    const InRuntime in_runtime;
    if (idle_.empty()) {
        idle_.push_back(std::make_unique<BlockState>());
    }
    std::unique_ptr<BlockState> state = std::move(idle_.back());
    idle_.pop_back();
    const Launch& launch = Scheduler::instance().launch();
    state->clock.begin(block_number(block, launch.grid), static_cast<unsigned>(block.lanes.size()), hot.races.now);
    state->released.clear();
    state->barrier = nullptr;
    state->syncwarp.assign(block.warps.size(), nullptr);
    state->last_looks.clear();
    states_[&block] = std::move(state);
}

void Races::switch_to(Block& block) {
    const auto entry = states_.find(&block);
    if (!hot.races.on || entry == states_.end() || entry->second.get() == current_) {
        return;
    }
    current_ = entry->second.get();
    HotRaces& me = hot.races;
    if (slices_.size() == kMostSlices) {
        give_up();
        return;
    }
    slices_.push_back({me.now, current_->clock.number});
    me.slice = me.now;
    me.barrier = current_->clock.barrier;
    me.block = current_->clock.began;
    set_now(me.now + 1);
    expose_shared();
}

void Races::end_block(Block& block) {
    const auto entry = states_.find(&block);
    if (entry == states_.end()) {
        return;
    }
    if (entry->second.get() == current_) {
        current_ = nullptr;
        expose_shared();
    }
    idle_.push_back(std::move(entry->second));
    states_.erase(entry);
}

void Races::begin_lane(std::uint32_t thread) {
    if (current_ == nullptr) {
        return;
    }
    hot.races.thread = thread;
    hot.races.wrote = current_->clock.wrote[thread];
    set_mine();
    set_alone();
}

void Races::end_lane(std::uint32_t thread) {
    if (current_ != nullptr) {
        current_->clock.wrote[thread] = hot.races.wrote;
    }
    if (suspicion_) {
        settle();
    }
}

// Accesses by host code pass for no reader's.
void Races::leave_lane() {
    std::ranges::fill(hot.races.mine, HotRaces().mine[0]);
}

void Races::set_mine() {
    HotRaces& me = hot.races;
    if (!me.on) {
        return;
    }
    for (const Who who : {Who::thread, Who::warp, Who::block}) {
        const auto i = static_cast<unsigned>(who);
        me.mine[i] = cell::make(me.now, who, me.thread, false, false, 0) & me.bits[i];
    }
}

// To be called after anything that changes what the lane knows.
void Races::set_alone() {
    HotRaces& me = hot.races;
    const BlockClock& clock = current_->clock;
    me.alone = std::max(me.slice, clock.most_known_of_warp(me.thread));
    me.acquired = clock.acquired_anything(me.thread);
}

void Races::set_now(Time now) {
    hot.races.now = now;
    set_mine();
    if (now >= cell::kLastTime) {
        give_up();
    }
}

// The rest of the launch is not watched.
void Races::give_up() {
    hot.races.on = false;
    leave_lane();
    expose_shared();
    static bool said = false;
    if (!std::exchange(said, true)) {
        fmt::print(stderr, "simt: a launch is too long for the search for races: what follows in it is not judged\n");
    }
}

void Races::pass_barrier(const void* site) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const InRuntime in_runtime;
    if (hot.lane != nullptr) {
        current_->clock.wrote[hot.races.thread] = hot.races.wrote;
    }
    current_->clock.pass_barrier(hot.races.now);
    current_->barrier = site;
    std::fill(current_->syncwarp.begin(), current_->syncwarp.end(), nullptr);
    hot.races.barrier = hot.races.now;
    set_now(hot.races.now + 1);
    set_alone();
}

void Races::pass_grid_barrier(const void* site) {
    if (!hot.races.on) {
        return;
    }
    const InRuntime in_runtime;
    for (auto& [block, state] : states_) {
        state->clock.pass_barrier(hot.races.now);
        state->barrier = site;
        std::fill(state->syncwarp.begin(), state->syncwarp.end(), nullptr);
    }
    hot.races.launch = hot.races.barrier = hot.races.now;
    set_now(hot.races.now + 1);
    set_alone();
}

void Races::sync_lanes(const Warp& warp, unsigned mask, const void* site) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const InRuntime in_runtime;
    const auto number = static_cast<unsigned>(&warp - warp.lanes->block->warps.data());
    const unsigned whole = warp.present & ~warp.exited;
    current_->clock.sync_lanes(number, mask, whole, hot.races.now);
    if (mask == whole) {
        current_->syncwarp[number] = site;
    }
    set_now(hot.races.now + 1);
    set_alone();
}

void Races::note_fence() {
    if (!std::exchange(fenced_, true)) {
        link_cache = {};
    }
}

void Races::fence(bool beyond_block) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const InRuntime in_runtime;
    note_fence();
    current_->clock.fence(hot.races.thread, beyond_block, hot.races.now);
    set_now(hot.races.now + 1);
    set_alone();
}

// ---- judgement --------------------------------------------------------------------------------------------------------

std::optional<Races::Conflict> Races::conflict_in(Cell top, const Touched& touched, bool other_writes,
                                                  bool other_strong, const RacePage* page, std::size_t unit) const {
    const Time floor = touched.shared ? current_->clock.barrier : hot.races.launch;
    if (cell::who(top) == Who::nobody || cell::time(top) <= floor) {
        return std::nullopt;
    }
    const auto judge_one = [&](Cell other, std::uint32_t site, const RacePage* of) -> std::optional<Conflict> {
        if (ordered(other, touched.shared, of, unit, other_strong && other_writes ? touched.address : 0)) {
            return std::nullopt;
        }
        const bool plain = touched.strength == Strength::plain;
        if (!guesses_.empty() && ((other_strong && plain && guesses_.contains(number_of(touched.site))) ||
                                  (!plain && !other_strong && !other_writes && guesses_.contains(site)))) {
            return std::nullopt;
        }
        if (other_strong && !plain) {
            const bool same_block = touched.shared || cell::time(other) > hot.races.slice ||
                                    block_of(cell::time(other)) == current_->clock.number;
            if (same_block || (touched.strength == Strength::device && !cell::narrow(other))) {
                return std::nullopt;
            }
        }
        return Conflict{.other = other,
                        .site = site,
                        .other_writes = other_writes,
                        .other_strong = other_strong,
                        .lanes = of == nullptr || of->lanes == nullptr ? 0 : of->lanes[unit]};
    };
    const std::uint32_t payload = cell::payload(top);
    if (const auto conflict = judge_one(top, cell::linked(top) ? links_[payload].top_site : payload, page)) {
        return conflict;
    }
    for (std::uint32_t i = cell::linked(top) ? payload : 0; i != 0; i = links_[i].next) {
        if (const auto conflict = judge_one(links_[i].access, links_[i].site, nullptr)) {
            return conflict;
        }
    }
    return std::nullopt;
}

std::optional<Races::Conflict> Races::find(const Touched& touched, const RacePage& page, std::size_t unit) const {
    const bool writes = touched.touch == Touch::write;
    if (writes) {
        if (const auto found = conflict_in(page.reads[unit], touched, false, false, &page, unit)) {
            return found;
        }
    }
    if (page.writes != nullptr) {
        if (const auto found = conflict_in(page.writes[unit], touched, true, false, nullptr, unit)) {
            return found;
        }
    }
    if (page.strong()) {
        if (const auto found = conflict_in(page.strong_writes[unit], touched, true, true, nullptr, unit)) {
            return found;
        }
        if (writes) {
            return conflict_in(page.strong_reads[unit], touched, false, true, nullptr, unit);
        }
    }
    return std::nullopt;
}

void Races::note(const Touched& touched, RacePage& page, std::size_t unit) {
    const bool writes = touched.touch == Touch::write;
    if (touched.strength != Strength::plain) {
        join(writes ? page.strong_writes[unit] : page.strong_reads[unit], touched, nullptr, unit);
        return;
    }
    if (!writes) {
        join(page.reads[unit], touched, touched.shared ? &page : nullptr, unit);
        return;
    }
    page.reads[unit] = 0;
    page.writes[unit] = cell::make(hot.races.now, Who::thread, hot.races.thread, false, false, number_of(touched.site));
    if (page.strong()) {
        page.strong_reads[unit] = page.strong_writes[unit] = 0;
    }
}

Races::SharedPlace Races::shared_place(std::uintptr_t address) const {
    const auto dynamic_begin = reinterpret_cast<std::uintptr_t>(simt_dynamic_shared);
    const bool dynamic = address - dynamic_begin < kDynamicSharedLimit;
    const std::uintptr_t begin = dynamic ? dynamic_begin : static_shared_begin_;
    return {.area = dynamic ? 1U : 0U, .number = address / RacePage::kBytes - begin / RacePage::kBytes};
}

// Returns the entry of the running block that holds the page of an address in shared memory.
std::unique_ptr<RacePage>& Races::shared_page(std::uintptr_t address) {
    const SharedPlace place = shared_place(address);
    auto& pages = current_->pages[place.area];
    if (place.number >= pages.size()) [[unlikely]] {
        pages.resize(place.number + 1);
    }
    return pages[place.number];
}

// To be called when the page of an address in shared memory has another form or more cells than before.
void Races::note_shared_cells(std::uintptr_t address) {
    const RacePage& page = *shared_page(address);
    const SharedPlace place = shared_place(address);
    auto& cells = current_->cells[place.area];
    if (place.number >= cells.size()) {
        cells.resize(place.number + 1);
    }
    const bool whole_words = page.form == 2 && page.writes != nullptr;
    cells[place.number] = whole_words ? HotCells{.reads = page.reads.get(),
                                                 .writes = page.writes.get(),
                                                 .lanes = page.lanes.get(),
                                                 .since = page.since.get()}
                                      : HotCells{};
    expose_shared();
}

void Races::expose_shared() const {
    const bool exposed = hot.races.on && current_ != nullptr && !suspicion_;
    for (std::size_t area = 0; area < 2; area++) {
        hot.races.shared[area] =
            exposed ? HotPages{current_->cells[area].data(), current_->cells[area].size()} : HotPages{};
    }
}

namespace {

// Handles what most accesses to shared memory are: whole units of 1 << kShift bytes, no conflict, nothing to look up.
// False: more is needed.
template <unsigned kShift>
[[gnu::noinline]] bool plainly_ordered_units(const RacePage& page, std::size_t in_page, std::size_t bytes, Touch touch,
                                             std::uint32_t site) {
    bool fine = true;
    for (std::size_t unit = in_page >> kShift; fine && unit < (in_page + bytes) >> kShift; unit++) {
        fine = plainly_ordered_in_shared(page.reads[unit], page.writes[unit], page.lanes[unit], page.since[unit], touch,
                                         site);
    }
    return fine;
}

}  // namespace

bool Races::touch_shared(std::uintptr_t address, std::size_t bytes, Touch touch, const void* site) {
    if (current_ == nullptr || suspicion_) {
        return false;
    }
    const RacePage* const page = shared_page(address).get();
    const std::size_t in_page = address % RacePage::kBytes;
    const std::uint64_t number = reinterpret_cast<std::uintptr_t>(site) - hot.races.first_site;
    // In units of words, halves or bytes, without strong accesses.
    if (page == nullptr || page->form > 2 || ((address | bytes) & ((1U << page->form) - 1U)) != 0 ||
        page->writes == nullptr || in_page + bytes > RacePage::kBytes ||
        number - cell::kFarSites >= cell::kMostSites - cell::kFarSites) {
        return false;
    }
    const auto code = static_cast<std::uint32_t>(number);
    return page->form == 2   ? plainly_ordered_units<2>(*page, in_page, bytes, touch, code)
           : page->form == 1 ? plainly_ordered_units<1>(*page, in_page, bytes, touch, code)
                             : plainly_ordered_units<0>(*page, in_page, bytes, touch, code);
}

void Races::touch(const Touched& touched) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    hot.site = touched.site;
    if (touched.shared && touched.strength == Strength::plain &&
        touch_shared(touched.address, touched.bytes, touched.touch, touched.site)) {
        return;
    }
    bool aside = false;
    {
        const InRuntime in_runtime;
        if (suspicion_) {
            settle();
        }
        const bool writes = touched.touch == Touch::write, plain = touched.strength == Strength::plain;
        // The first volatile write of a line waits: lanes that rely on it without waiting go by, and others poll.
        aside = writes && (plain ? conflict_to_yield_at(touched).has_value()
                                 : is_volatile_in_shared(touched) && is_first_volatile_write(touched));
        if (!aside) {
            inspect(touched);
        }
    }
    if (aside) {
        // The others go first, so that what the thread has read is out of date by the time it writes.
        Scheduler::instance().yield(touched.site);
        const InRuntime in_runtime;
        inspect(touched);
    }
}

void Races::order_by(const Touched& touched) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const InRuntime in_runtime;
    if (suspicion_) {
        settle();
    }
    synchronise(touched);
}

// A conflict at which the thread should step aside, before anything is noted.
std::optional<Races::Conflict> Races::conflict_to_yield_at(const Touched& touched) {
    std::optional<Conflict> reason;
    each_unit(touched, [&](const RacePage& page, std::size_t unit, std::uintptr_t) {
        if (!reason) {
            const auto conflict = find(touched, page, unit);
            reason = conflict && should_yield(touched, conflict->site) ? conflict : std::nullopt;
        }
    });
    return reason;
}

// ---- volatile shared memory in a warp -----------------------------------------------------------------------------------

// A thread that reads the same word by the same line twice, with nothing between, polls it.
void Races::note_look(const Touched& touched) {
    const std::uint32_t me = hot.races.thread;
    const Look look{touched.address, touched.site, hot.races.now, me};
    current_->last_looks.resize(current_->clock.wrote.size());
    const Look last = std::exchange(current_->last_looks[me], look);
    if (last.address == look.address && last.site == look.site && last.at > all_met()) {
        polls_.insert(look.site);
    }
    std::vector<Look>& looks = looks_at(look.address);
    forget_looks(looks);
    looks.push_back(look);
}

// What threads of earlier blocks have left there is older than this block's last barrier.
std::vector<Races::Look>& Races::looks_at(std::uintptr_t address) {
    const std::size_t word = Scheduler::instance().shared().index_of(address) / 4;
    if (word >= current_->looks.size()) {
        current_->looks.resize(word + 1);
    }
    return current_->looks[word];
}

// When all lanes of the running one's warp have met last.
Time Races::all_met() const {
    const Time met = current_->clock.most_known_of_warp(hot.races.thread);
    return met == UINT32_MAX ? current_->clock.barrier : met;
}

// The thread's own, and those before all of its warp or block have met.
void Races::forget_looks(std::vector<Look>& looks) const {
    const std::uint32_t me = hot.races.thread;
    const Time block = current_->clock.barrier, warp = all_met();
    std::erase_if(looks, [&](const Look& look) {
        return look.thread == me || look.at <= (look.thread / kLanes == me / kLanes ? warp : block);
    });
}

bool Races::is_first_volatile_write(const Touched& touched) {
    return std::exchange(last_volatile_write_, touched.site) != touched.site &&
           should_yield(touched, number_of(touched.site));
}

// Whether the thread may be about to look at the word again.
bool Races::looks_again(std::uint32_t thread, std::uintptr_t address) const {
    const LaneState state = hot.lane->block->lanes[thread].state;
    return (state == LaneState::ready || state == LaneState::polling) &&
           current_->last_looks[thread].address == address;
}

// A volatile write of a word of shared memory that another lane of the warp has read by a volatile read, and went on:
// before Volta the lanes were in lockstep there, and all of them read before one of them wrote.
void Races::judge_lockstep(const Touched& touched) {
    const std::uint32_t me = hot.races.thread;
    if (me < current_->last_looks.size()) {
        current_->last_looks[me] = {};
    }
    std::vector<Look>& looks = looks_at(touched.address);
    forget_looks(looks);
    const auto went_on = std::find_if(looks.begin(), looks.end(), [&](const Look& look) {
        return look.thread / kLanes == me / kLanes && look.address == touched.address && !polls_.contains(look.site) &&
               !looks_again(look.thread, look.address) &&
               !ordered_in_block(cell::make(look.at, Who::thread, look.thread, false, false, 0), nullptr, 0, 0);
    });
    if (went_on == looks.end()) {
        return;
    }
    bool told = false;
    report_or_defer(touched,
                    {.other = cell::make(went_on->at, Who::thread, went_on->thread, false, false, 0),
                     .site = number_of(went_on->site),
                     .other_writes = false,
                     .other_strong = true,
                     .lanes = 0},
                    touched.address, touched.bytes, told);
    looks.erase(went_on);  // later writes of the word tell no more about it
}

// Tells the conflict at the bytes from `address` on, or suspects it where the thread's next step decides; `told`: an
// access is told once.
void Races::report_or_defer(const Touched& touched, const Conflict& conflict, std::uintptr_t address,
                            std::size_t unit_bytes, bool& told) {
    const std::size_t first = address - touched.address;
    const bool plain = touched.strength == Strength::plain;
    const bool both_plain_writes =
        plain && touched.touch == Touch::write && conflict.other_writes && !conflict.other_strong;
    const bool guess = plain && touched.touch == Touch::read && conflict.other_strong && !suspicion_;
    const bool value_decides = both_plain_writes || (!plain && conflict.other_strong && touched.shared);
    if (touched.shared && Scheduler::instance().shared().is_flag(address)) {
        told = true;
    } else if (guess) {
        suspicion_ = Suspicion{.touched = touched, .conflict = conflict, .at = address};
        expose_shared();
        told = true;
    } else if (value_decides && first + unit_bytes <= Suspicion::kMostBytes) {
        if (!suspicion_) {
            suspicion_ = Suspicion{.touched = touched, .conflict = conflict, .at = address};
            std::memcpy(suspicion_->before.data(), reinterpret_cast<const void*>(touched.address),
                        std::min(touched.bytes, Suspicion::kMostBytes));
            expose_shared();
        }
        suspicion_->bytes |= ((1ULL << unit_bytes) - 1) << first;
    } else if (!told) {
        told = true;
        tell(touched, conflict, address);
    }
}

// Judges the access and notes it.
void Races::inspect(const Touched& touched) {
    bool told = false;
    each_unit(touched, [&](RacePage& page, std::size_t unit, std::uintptr_t address) {
        if (const auto conflict = find(touched, page, unit)) {
            report_or_defer(touched, *conflict, address, std::size_t{1} << page.shift(), told);
        }
        note(touched, page, unit);
    });
    if (touched.touch == Touch::write) {
        hot.races.wrote = hot.races.now;
    }
    if (is_volatile_in_shared(touched)) {
        touched.touch == Touch::write ? judge_lockstep(touched) : note_look(touched);
    }
    if (touched.strength != Strength::plain) {
        with_the_host_ = with_the_host_ || (!touched.shared && host_may_change(touched.address));
        synchronises_ = synchronises_ || !touched.atomic || fenced_ || touched.acquires || touched.releases;
        synchronise(touched);
    } else if (touched.touch == Touch::write) {
        auto& released = touched.shared ? current_->released : released_;
        if (!released.empty()) {
            released.erase(touched.address);
        }
    }
}

namespace {

// A function of its own, so that the plain case needs no stack frame.
template <std::size_t kBytes, bool kWrite>
[[gnu::noinline]] void judge_plain(std::uintptr_t offset, const void* site) {
    Races::instance().touch({.address = hot.device_begin + offset,
                             .bytes = kBytes,
                             .touch = kWrite ? Touch::write : Touch::read,
                             .strength = Strength::plain,
                             .site = site,
                             .shared = false});
}

}  // namespace

template <std::size_t kBytes, bool kWrite>
void look_for_races(std::uintptr_t offset, const void* site) {
    constexpr std::size_t kUnit = kBytes < 4 ? kBytes : 4;
    constexpr unsigned kShift = kUnit == 4 ? 2 : kUnit == 2 ? 1 : 0;
    const std::uint64_t number = reinterpret_cast<std::uintptr_t>(site) - hot.races.first_site;
    RacePage* page = hot.races.pages[offset / RacePage::kBytes];
    const std::size_t in_page = offset % RacePage::kBytes;
    bool fine = page != nullptr && page->form == kShift &&
                number - cell::kFarSites < cell::kMostSites - cell::kFarSites && in_page + kBytes <= RacePage::kBytes &&
                in_page % kUnit == 0 && (!kWrite || page->writes != nullptr);
    if (fine) [[likely]] {
        const auto code = static_cast<std::uint32_t>(number);
        Cell* reads = &page->reads[in_page / kUnit];
        Cell* writes = page->writes == nullptr ? nullptr : &page->writes[in_page / kUnit];
        for (std::size_t i = 0; i < kBytes / kUnit; i++) {
            if constexpr (kWrite) {
                fine = fine && plainly_ordered_write(reads[i], writes[i], code);
            } else {
                fine = fine && plainly_ordered_read(reads[i], writes == nullptr ? 0 : writes[i], code);
            }
        }
    }
    if (!fine) {
        judge_plain<kBytes, kWrite>(offset, site);
    }
}

template void look_for_races<1, false>(std::uintptr_t, const void*);
template void look_for_races<2, false>(std::uintptr_t, const void*);
template void look_for_races<4, false>(std::uintptr_t, const void*);
template void look_for_races<8, false>(std::uintptr_t, const void*);
template void look_for_races<16, false>(std::uintptr_t, const void*);
template void look_for_races<1, true>(std::uintptr_t, const void*);
template void look_for_races<2, true>(std::uintptr_t, const void*);
template void look_for_races<4, true>(std::uintptr_t, const void*);
template void look_for_races<8, true>(std::uintptr_t, const void*);
template void look_for_races<16, true>(std::uintptr_t, const void*);

// A strong access learns from those that wrote the variable, and hands on what it knows to those who read it.
void Races::synchronise(const Touched& touched) {
    auto& released = touched.shared ? current_->released : released_;
    BlockClock& clock = current_->clock;
    const std::uint32_t me = hot.races.thread;
    const auto entry = released.find(touched.address);
    ReleaseLog* log = entry == released.end() ? nullptr : entry->second;
    const bool reads = touched.touch == Touch::read || touched.also_reads;
    if (reads && log != nullptr) {
        clock.see(me, log, touched.acquires);
        set_alone();
    }
    if (touched.touch == Touch::read || !touched.publishes) {
        return;
    }
    if (touched.releases) {
        clock.wrote[me] = hot.races.wrote;
        note_fence();
        clock.fence(me, touched.strength == Strength::device, hot.races.now);
        set_now(hot.races.now + 1);
    }
    Release release = clock.release(me, touched.strength == Strength::block, hot.races.now);
    const bool any = release.in_block != nullptr || release.beyond != nullptr;
    const bool full = log != nullptr && log->releases.size() >= log->most;
    if (!reads || log == nullptr || (any && full)) {
        if (!any) {
            if (entry != released.end()) {
                released.erase(entry);
            }
            return;
        }
        if (logs_.size() == kMostLogs) {
            give_up();
            return;
        }
        ReleaseLog& next = logs_.emplace_back();
        next.variable = touched.address;
        if (reads && full) {
            next.go_on_from(*log);
        }
        log = &next;
        released[touched.address] = log;
    }
    if (!any) {
        return;
    }
    log->releases.push_back(std::move(release));
}

}  // namespace simt
