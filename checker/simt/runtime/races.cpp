// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/races.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "checker/simt/runtime/findings.h"
#include "checker/simt/runtime/memory.h"
#include "checker/simt/runtime/modules.h"
#include "checker/simt/runtime/scheduler.h"
#include "checker/simt/runtime/state.h"

extern "C" char simt_dynamic_shared[];

namespace simt {

constinit LinkCache link_cache;

namespace {

constexpr std::size_t kMostShadow = std::size_t{1} << 30;  // bytes of cells
constexpr std::size_t kMostLinks = cell::kMostSites - 1;
constexpr std::size_t kExactLinks = 1U << 10;  // from here on links name blocks, not threads
constexpr std::size_t kTableSlots = 2 * std::size_t{cell::kMostSites};
constexpr std::size_t kMostLogs = 1U << 20;
constexpr std::size_t kMostSlices = 1U << 23;
constexpr std::size_t kMostReleases = 4096;  // of one variable, before a thread's later one replaces its earlier

std::uint64_t block_number(const Block& block, dim3 grid) {
    return block.index.x + std::uint64_t{grid.x} * (block.index.y + std::uint64_t{grid.y} * block.index.z);
}

std::string block_text(std::uint64_t block, dim3 grid) {
    return fmt::format("block ({}, {}, {})", block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y);
}

std::string thread_text(std::uint64_t block, std::uint32_t thread, const Launch& launch) {
    const dim3 b = launch.block;
    return fmt::format("{}, thread ({}, {}, {})", block_text(block, launch.grid), thread % b.x, thread / b.x % b.y,
                       thread / b.x / b.y);
}

std::string place_text(const Touched& touched, std::uintptr_t address) {
    if (touched.shared) {
        return Scheduler::instance().shared().place_of(address);
    }
    if (Memory::instance().contains(address)) {
        const Allocation* allocation = Memory::instance().find(address);
        return allocation == nullptr ? "global memory" : place_in(*allocation, address);
    }
    const Module* module = module_of(reinterpret_cast<const void*>(address));
    const Symbol* variable = module == nullptr ? nullptr : module->variable_at(address);
    return variable == nullptr ? "a device variable"
                               : fmt::format("byte {} of the device variable {} ({} bytes)", address - variable->begin,
                                             variable->name(), variable->bytes);
}

}  // namespace

std::size_t RacePage::bytes() const {
    std::size_t arrays = 0;
    for (const bool there :
         {reads != nullptr, writes != nullptr, strong_reads != nullptr, strong_writes != nullptr, lanes != nullptr}) {
        arrays += there ? 1 : 0;
    }
    return arrays * units() * sizeof(Cell);
}

Races::Races() {
    const char* check = std::getenv("SIMT_CHECK");
    wanted_ = check == nullptr || std::string_view(check) != "noraces";
}

Races& Races::instance() {
    static auto& races = *new Races;  // never destroyed, as the scheduler
    return races;
}

// ---- launches, blocks, lanes ------------------------------------------------------------------------------------------

void Races::begin_launch(const Launch& launch) {
    HotRaces& me = hot.races;
    me.on = wanted_ && hot.checking;
    if (!me.on) {
        return;
    }
    if (me.pages == nullptr) {
        const auto table = [] {
            const std::size_t bytes = hot.device_bytes / RacePage::kBytes * sizeof(void*);
            return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        };
        void* const pages = table();
        void* const words = table();
        if (pages == MAP_FAILED || words == MAP_FAILED) {
            me.on = false;
            return;
        }
        me.pages = static_cast<RacePage**>(pages);
        me.words = static_cast<Cell**>(words);
    }
    if (shadow_bytes_ > kMostShadow / 2 || me.now > cell::kLastTime / 2) {
        release_pages();
    }
    if (me.now > cell::kLastTime / 2) {
        me.now = 1;
    }
    // Of a launch's sites the first few numbers are given one by one.
    me.first_site = reinterpret_cast<std::uintptr_t>(launch.body) - cell::kMostSites / 2;
    far_sites_.clear();
    me.launch = me.slice = me.barrier = me.now;
    me.now++;
    slices_.clear();
    links_.assign(1, Link{});
    for (const std::size_t slot : link_slots_) { link_table_[slot] = 0; }
    link_slots_.clear();
    released_.clear();
    logs_.clear();
    told_.clear();
    stepped_aside_.clear();
    guesses_.clear();
    link_cache = {};
    me.coarse = false;
    fenced_ = false;
    suspicion_.reset();
    current_ = nullptr;
    static_shared_begin_ = Scheduler::instance().shared().static_begin();
}

void Races::end_launch() {
    for (auto& [block, state] : states_) { idle_.push_back(std::move(state)); }
    states_.clear();
    current_ = nullptr;
    suspicion_.reset();
}

void Races::begin_block(Block& block) {
    if (!hot.races.on) {
        return;
    }
    const Busy busy;
    if (idle_.empty()) {
        idle_.push_back(std::make_unique<BlockState>());
    }
    std::unique_ptr<BlockState> state = std::move(idle_.back());
    idle_.pop_back();
    const Launch& launch = Scheduler::instance().launch();
    state->clock.begin(block_number(block, launch.grid), static_cast<unsigned>(block.lanes.size()), hot.races.now);
    state->released.clear();
    states_[&block] = std::move(state);
}

void Races::turn_to(Block& block) {
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
}

void Races::end_block(Block& block) {
    const auto entry = states_.find(&block);
    if (entry == states_.end()) {
        return;
    }
    if (entry->second.get() == current_) {
        current_ = nullptr;
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

void Races::set_mine() {
    HotRaces& me = hot.races;
    for (const Who who : {Who::thread, Who::warp, Who::block}) {
        const auto i = static_cast<unsigned>(who);
        me.mine[i] = cell::make(me.now, who, me.thread, false, false, 0) & me.bits[i];
    }
}

// After whatever changes what the lane knows.
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

// The rest of the launch goes unwatched.
void Races::give_up() {
    hot.races.on = false;
    static bool said = false;
    if (!std::exchange(said, true)) {
        fmt::print(stderr, "simt: a launch is too long for the search for races: what follows in it is not judged\n");
    }
}

void Races::pass_barrier() {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const Busy busy;
    if (hot.lane != nullptr) {
        current_->clock.wrote[hot.races.thread] = hot.races.wrote;
    }
    current_->clock.pass_barrier(hot.races.now);
    hot.races.barrier = hot.races.now;
    set_now(hot.races.now + 1);
    set_alone();
}

void Races::pass_grid_barrier() {
    if (!hot.races.on) {
        return;
    }
    const Busy busy;
    for (auto& [block, state] : states_) { state->clock.pass_barrier(hot.races.now); }
    hot.races.launch = hot.races.barrier = hot.races.now;
    set_now(hot.races.now + 1);
    set_alone();
}

void Races::sync_lanes(unsigned warp, unsigned mask, unsigned whole) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const Busy busy;
    current_->clock.sync_lanes(warp, mask, whole, hot.races.now);
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
    const Busy busy;
    note_fence();
    current_->clock.fence(hot.races.thread, beyond_block, hot.races.now);
    set_now(hot.races.now + 1);
    set_alone();
}

// ---- shadow -----------------------------------------------------------------------------------------------------------

bool Races::give_memory(std::size_t bytes) {
    if (shadow_bytes_ + bytes > kMostShadow) {
        static bool said = false;
        if (!std::exchange(said, true)) {
            fmt::print(stderr, "simt: a launch touches so much memory that races in part of it are not looked for\n");
        }
        return false;
    }
    shadow_bytes_ += bytes;
    return true;
}

RacePage* Races::new_page(unsigned shift, bool shared) {
    auto page = std::make_unique<RacePage>(static_cast<std::uint16_t>(shift));
    if (!shared && !give_memory(page->units() * sizeof(Cell))) {
        return nullptr;
    }
    page->reads = std::make_unique<Cell[]>(page->units());
    if (shared) {
        page->lanes = std::make_unique<std::uint32_t[]>(page->units());
        page->since = std::make_unique<std::uint32_t[]>(page->units());
    }
    return page.release();
}

// Where the page of an address is noted; of shared memory, the running block's.
std::unique_ptr<RacePage>& Races::shared_page(std::uintptr_t address) {
    const auto dynamic_begin = reinterpret_cast<std::uintptr_t>(simt_dynamic_shared);
    const bool dynamic = address - dynamic_begin < kDynamicSharedLimit;
    const std::uintptr_t begin = dynamic ? dynamic_begin : static_shared_begin_;
    auto& pages = dynamic ? current_->dynamic_pages : current_->static_pages;
    const std::size_t number = address / RacePage::kBytes - begin / RacePage::kBytes;
    if (number >= pages.size()) {
        pages.resize(number + 1);
    }
    return pages[number];
}

RacePage* Races::page_if_any(std::uintptr_t address) {
    if (Memory::instance().contains(address)) {
        return hot.races.pages[(address - hot.device_begin) / RacePage::kBytes];
    }
    if (Scheduler::instance().shared().marks(address, 1) != nullptr) {
        return shared_page(address).get();
    }
    const auto page = variable_pages_.find(address / RacePage::kBytes);
    return page == variable_pages_.end() ? nullptr : page->second.get();
}

void Races::note_words(std::size_t number) {
    const RacePage& page = *hot.races.pages[number];
    hot.races.words[number] = page.form == 2 ? page.reads.get() : nullptr;
}

void Races::note_words_at(const Touched& touched, std::uintptr_t address) {
    if (!touched.shared && Memory::instance().contains(address)) {
        note_words((address - hot.device_begin) / RacePage::kBytes);
    }
}

RacePage* Races::page_of(const Touched& touched, std::uintptr_t address) {
    const auto fits = static_cast<unsigned>(std::min(2, std::countr_zero(touched.address | touched.bytes)));
    RacePage* page = nullptr;
    if (touched.shared) {
        std::unique_ptr<RacePage>& entry = shared_page(address);
        if (entry == nullptr) {
            entry.reset(new_page(fits, true));
        }
        page = entry.get();
    } else if (Memory::instance().contains(address)) {
        const std::size_t number = (address - hot.device_begin) / RacePage::kBytes;
        page = hot.races.pages[number];
        if (page == nullptr) {
            page = new_page(fits, false);
            if (page == nullptr) {
                return nullptr;
            }
            hot.races.pages[number] = page;
            note_words(number);
            used_pages_.push_back(number);
        }
    } else {
        std::unique_ptr<RacePage>& entry = variable_pages_[address / RacePage::kBytes];
        if (entry == nullptr) {
            entry.reset(new_page(fits, false));
        }
        page = entry.get();
    }
    if (page == nullptr) {
        return nullptr;
    }
    if (page->shift() > fits) {
        split(*page, fits);
        note_words_at(touched, address);
    }
    const std::size_t array = page->units() * sizeof(Cell);
    if (touched.touch == Touch::write && touched.strength == Strength::plain && page->writes == nullptr) {
        if (!touched.shared && !give_memory(array)) {
            return nullptr;
        }
        page->writes = std::make_unique<Cell[]>(page->units());
    }
    if (touched.strength != Strength::plain && !page->strong()) {
        if (!touched.shared && !give_memory(2 * array)) {
            return nullptr;
        }
        page->form |= RacePage::kStrong;
        note_words_at(touched, address);
        page->strong_reads = std::make_unique<Cell[]>(page->units());
        page->strong_writes = std::make_unique<Cell[]>(page->units());
    }
    return page;
}

// Smaller units from now on: each has the history of the larger one.
void Races::split(RacePage& page, unsigned shift) {
    const std::size_t before = page.bytes();
    const std::size_t parts = std::size_t{1} << (page.shift() - shift);
    const std::size_t units = page.units();
    const auto spread = [&](auto& array) {
        if (array != nullptr) {
            using T = std::remove_reference_t<decltype(array[0])>;
            auto finer = std::make_unique<T[]>(units * parts);
            for (std::size_t i = 0; i < units * parts; i++) { finer[i] = array[i / parts]; }
            array = std::move(finer);
        }
    };
    spread(page.reads);
    spread(page.writes);
    spread(page.strong_reads);
    spread(page.strong_writes);
    spread(page.lanes);
    spread(page.since);
    page.form = static_cast<std::uint16_t>((page.form & RacePage::kStrong) | shift);
    shadow_bytes_ += page.lanes == nullptr ? page.bytes() - before : 0;
}

void Races::release_pages() {
    for (const std::size_t number : used_pages_) {
        delete hot.races.pages[number];
        hot.races.pages[number] = nullptr;
        hot.races.words[number] = nullptr;
    }
    used_pages_.clear();
    variable_pages_.clear();
    idle_.clear();  // their shared memory's
    shadow_bytes_ = 0;
}

// ---- sites ------------------------------------------------------------------------------------------------------------

std::uint32_t Races::number_of(const void* site) const {
    const std::uint64_t number = reinterpret_cast<std::uintptr_t>(site) - hot.races.first_site;
    if (number >= cell::kFarSites && number < cell::kMostSites) {
        return static_cast<std::uint32_t>(number);
    }
    const auto known = std::find(far_sites_.begin(), far_sites_.end(), site);
    if (known == far_sites_.end() && far_sites_.size() < cell::kFarSites - 1) {
        far_sites_.push_back(site);
        return static_cast<std::uint32_t>(far_sites_.size() - 1);
    }
    return known == far_sites_.end() ? cell::kFarSites - 1 : static_cast<std::uint32_t>(known - far_sites_.begin());
}

const void* Races::site_of(std::uint32_t number) const {
    if (number < cell::kFarSites) {
        return number < far_sites_.size() ? far_sites_[number] : nullptr;
    }
    return reinterpret_cast<const void*>(hot.races.first_site + number);
}

// ---- order ------------------------------------------------------------------------------------------------------------

std::uint64_t Races::block_of(Time time) const {
    const auto after = std::lower_bound(slices_.begin(), slices_.end(), time,
                                        [](const Slice& slice, Time value) { return slice.after < value; });
    return after == slices_.begin() ? UINT64_MAX : std::prev(after)->block;
}

bool Races::acquired_covers_it(const Whose& whose, Time time) const {
    const BlockClock& clock = current_->clock;
    if (!clock.acquired_anything(hot.races.thread)) {
        return false;
    }
    const LaneClock* lane = clock.lane_if_any(hot.races.thread);
    return (lane != nullptr && acquired_covers(lane->acquired, clock.number, whose, time)) ||
           acquired_covers(clock.acquired_by_all(), clock.number, whose, time);
}

bool Races::ordered_in_block(Cell other, const RacePage* page, std::size_t unit, std::uintptr_t variable) const {
    const BlockClock& clock = current_->clock;
    const Time time = cell::time(other);
    const std::uint32_t me = hot.races.thread, thread = cell::thread(other);
    if (time <= clock.barrier) {
        return true;
    }
    const bool same_warp = me / kLanes == thread / kLanes;
    switch (cell::who(other)) {
        case Who::nobody:
            return true;
        case Who::thread:
            if (thread == me || (same_warp && clock.known(me, thread) >= time)) {
                return true;
            }
            break;
        case Who::warp:
            if (!same_warp) {
                break;
            }
            if (clock.known_of_warp(me) >= time) {
                return true;
            }
            if (page != nullptr && page->lanes != nullptr) {
                bool race = false;
                for (unsigned lanes = page->lanes[unit] & ~(1U << me % kLanes); lanes != 0; lanes &= lanes - 1) {
                    race = race || clock.known(me, static_cast<unsigned>(std::countr_zero(lanes))) < page->since[unit];
                }
                if (!race) {
                    return true;
                }
            } else if (clock.knows_some_of_warp(me, time)) {
                return true;  // which lanes it was is not kept: it may be those
            }
            break;
        case Who::block:
            // Some of them are of other warps; with an acquire from the block, which ones is not known.
            return acquired_covers_it({.block = clock.number, .thread = thread, .whole = true}, clock.barrier + 1);
    }
    return acquired_covers_it(
        {.block = clock.number, .thread = thread, .whole = cell::who(other) != Who::thread, .variable = variable},
        time);
}

bool Races::ordered(Cell other, bool shared, const RacePage* page, std::size_t unit, std::uintptr_t variable) const {
    const Time time = cell::time(other);
    if (!shared && time <= hot.races.launch) {
        return true;
    }
    const std::uint64_t block = shared || time > hot.races.slice ? current_->clock.number : block_of(time);
    if (block == current_->clock.number) {
        return ordered_in_block(other, page, unit, variable);
    }
    return acquired_covers_it(
        {.block = block, .thread = cell::thread(other), .whole = cell::who(other) != Who::thread, .variable = variable},
        time);
}

// ---- sets of accesses -------------------------------------------------------------------------------------------------

// The number of a link with these contents; 0 where there are too many.
std::uint32_t Races::link(const Link& wanted) {
    if (link_table_.empty()) {
        link_table_.resize(kTableSlots);
    }
    std::uint64_t hash = wanted.access * 0x9e3779b97f4a7c15U;
    hash = (hash ^ (hash >> 29) ^ wanted.next ^ (std::uint64_t{wanted.site} << 21)) * 0xbf58476d1ce4e5b9U;
    hash = (hash ^ (hash >> 32) ^ (std::uint64_t{wanted.top_site} << 7)) * 0x94d049bb133111ebU;
    std::size_t slot = (hash >> 20) % kTableSlots;
    while (link_table_[slot] != 0) {
        if (links_[link_table_[slot]] == wanted) {
            return link_table_[slot];
        }
        slot = (slot + 1) % kTableSlots;
    }
    if (links_.size() > kMostLinks) {
        return 0;
    }
    links_.push_back(wanted);
    link_slots_.push_back(slot);
    link_table_[slot] = static_cast<std::uint32_t>(links_.size() - 1);
    return link_table_[slot];
}

void Races::join(Cell& set, const Touched& touched, RacePage* page, std::size_t unit) {
    const HotRaces& me = hot.races;
    const BlockClock& clock = current_->clock;
    const std::uint32_t site = number_of(touched.site);
    const bool narrow = touched.strength == Strength::block;
    const Time time = cell::time(set);
    const Cell alone = cell::make(me.now, Who::thread, me.thread, narrow, false, site);
    if (cell::who(set) == Who::nobody || time <= (touched.shared ? me.barrier : me.launch)) {
        set = alone;
        return;
    }
    const bool own = touched.shared || time > me.slice || block_of(time) == clock.number;
    if (own) {
        const std::uint32_t thread = cell::thread(set);
        const bool same_warp = thread / kLanes == me.thread / kLanes;
        Who who = cell::who(set);
        bool replaced = time <= clock.barrier;
        if (!replaced && who == Who::thread) {
            replaced = thread == me.thread || (same_warp && clock.known(me.thread, thread) >= time) ||
                       acquired_covers_it({.block = clock.number, .thread = thread, .whole = false}, time);
        } else if (!replaced && who == Who::warp) {
            // Which lanes of a warp read global memory is not kept: in doubt they are those that it has met since.
            replaced = same_warp && (clock.known_of_warp(me.thread) >= time ||
                                     (page == nullptr && clock.knows_some_of_warp(me.thread, time)));
        }
        const auto replace = [&] {
            std::uint32_t number = 0;
            if (cell::linked(set)) {
                const Link& before = links_[cell::payload(set)];
                number = before.top_site == site ? cell::payload(set)
                                                 : link({before.access, before.site, before.next, site});
                number = number == 0 ? cell::payload(set) : number;
            }
            set = cell::make(me.now, Who::thread, me.thread, narrow, number != 0, number != 0 ? number : site);
        };
        if (replaced) {
            replace();
            return;
        }
        const bool whole_warp = same_warp && who != Who::block;
        if (whole_warp && page != nullptr) {
            const std::uint32_t bit = 1U << me.thread % kLanes;
            if (who == Who::thread) {
                page->lanes[unit] = 1U << thread % kLanes;
                page->since[unit] = time;
            }
            std::uint32_t& lanes = page->lanes[unit];
            for (unsigned others = lanes & ~bit; others != 0; others &= others - 1) {
                const auto other = static_cast<unsigned>(std::countr_zero(others));
                lanes &= clock.known(me.thread, other) >= time ? ~(1U << other) : ~0U;
            }
            lanes |= bit;
            if (lanes == bit) {
                replace();
                return;
            }
        }
        who = whole_warp ? Who::warp : Who::block;
        // The thread that stays is the one to name to whoever reads and then writes.
        set = cell::make(me.now, who, thread, narrow || cell::narrow(set), cell::linked(set), cell::payload(set));
        return;
    }
    if (clock.acquired_anything(me.thread)) {
        bool all_ordered = ordered(set, false, nullptr, 0);
        for (std::uint32_t i = cell::linked(set) ? cell::payload(set) : 0; i != 0 && all_ordered; i = links_[i].next) {
            all_ordered = ordered(links_[i].access, false, nullptr, 0);
        }
        if (all_ordered) {
            set = alone;
            return;
        }
    }
    // With many of them only blocks are told apart; and while no thread has fenced anything, one block is as good a
    // witness as several.
    const bool exact = links_.size() < kExactLinks;
    if (!exact && !std::exchange(hot.races.coarse, true)) {
        link_cache = {};
    }
    const Link before{.access = cell::make(time, exact ? cell::who(set) : Who::block, exact ? cell::thread(set) : 0,
                                           cell::narrow(set), false, 0),
                      .site = cell::linked(set) ? links_[cell::payload(set)].top_site : cell::payload(set),
                      .next = cell::linked(set) && (exact || fenced_) ? cell::payload(set) : 0,
                      .top_site = site};
    if (const std::uint32_t number = link(before); number != 0) {
        if (!narrow && !touched.shared && touched.strength == Strength::plain) {
            const Cell key = LinkCache::key(set, hot.races.coarse);
            link_cache.entries[LinkCache::slot(key)] = {.key = key, .site = site, .link = number};
        }
        set = cell::make(me.now, Who::thread, me.thread, narrow, true, number);
    }
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

// What most accesses to shared memory are: whole words, with no conflict and nothing to look up. False: it takes more.
bool Races::plainly_ordered_in_shared(const Touched& touched) {
    HotRaces& me = hot.races;
    RacePage* const page = shared_page(touched.address).get();
    const std::size_t in_page = touched.address % RacePage::kBytes;
    const std::uint64_t number = reinterpret_cast<std::uintptr_t>(touched.site) - me.first_site;
    if (page == nullptr || page->form != 2 || (touched.address | touched.bytes) % 4 != 0 || page->writes == nullptr ||
        in_page + touched.bytes > RacePage::kBytes || number - cell::kFarSites >= cell::kMostSites - cell::kFarSites) {
        return false;
    }
    const std::uint32_t bit = 1U << me.thread % kLanes;
    const Cell alone = me.mine[static_cast<unsigned>(Who::thread)] | number;
    for (std::size_t unit = in_page / 4; unit < (in_page + touched.bytes) / 4; unit++) {
        const Cell set = page->reads[unit];
        const Cell written = page->writes[unit];
        if (cell::time(written) > me.barrier && cell::thread(written) != me.thread) {
            return false;
        }
        const Time time = cell::time(set);
        const std::uint32_t other = cell::thread(set) ^ me.thread;
        const bool replaced = time <= me.barrier || (cell::who(set) == Who::thread && other == 0);
        if (touched.touch == Touch::write) {
            if (!replaced) {
                return false;
            }
            page->reads[unit] = 0;
            page->writes[unit] = alone;
            me.wrote = me.now;
        } else if (replaced) {
            page->reads[unit] = alone;
        } else if (cell::who(set) == Who::block && time == me.now) {
            continue;
        } else if (me.acquired || time <= me.alone) {
            return false;
        } else if (other < kLanes && cell::who(set) != Who::block) {
            if (cell::who(set) == Who::thread) {
                page->lanes[unit] = 1U << cell::thread(set) % kLanes;
                page->since[unit] = time;
            }
            page->lanes[unit] |= bit;
            page->reads[unit] = cell::make(me.now, Who::warp, cell::thread(set), false, false, cell::payload(set));
        } else {
            page->reads[unit] = cell::make(me.now, Who::block, cell::thread(set), false, false, cell::payload(set));
        }
    }
    return true;
}

void Races::judge(const Touched& touched) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    hot.site = touched.site;
    if (touched.shared && touched.strength == Strength::plain && !suspicion_ && plainly_ordered_in_shared(touched)) {
        return;
    }
    std::optional<Conflict> aside;
    {
        const Busy busy;
        if (suspicion_) {
            settle();
        }
        aside = look(touched, true);
    }
    if (aside) {
        // The others go first: what the thread has read before is old by the time it writes.
        Scheduler::instance().yield(touched.site);
        const Busy busy;
        look(touched, false);
    }
}

// Gives a conflict at which the thread should step aside, before anything is noted.
std::optional<Races::Conflict> Races::look(const Touched& touched, bool may_step_aside) {
    const bool plain_write = touched.touch == Touch::write && touched.strength == Strength::plain;
    const std::uintptr_t end = touched.address + touched.bytes;
    if (may_step_aside && plain_write) {
        for (std::uintptr_t address = touched.address; address < end;) {
            RacePage* page = page_of(touched, address);
            const std::size_t unit_bytes = page == nullptr ? 1 : std::size_t{1} << page->shift();
            if (page != nullptr) {
                const auto conflict = find(touched, *page, address % RacePage::kBytes >> page->shift());
                if (conflict && steps_aside(touched, *conflict)) {
                    return conflict;
                }
            }
            address += unit_bytes;
        }
    }
    bool told = false;
    for (std::uintptr_t address = touched.address; address < end;) {
        RacePage* page = page_of(touched, address);
        if (page == nullptr) {
            address = (address / RacePage::kBytes + 1) * RacePage::kBytes;
            continue;
        }
        const std::size_t unit_bytes = std::size_t{1} << page->shift();
        const std::size_t unit = address % RacePage::kBytes >> page->shift();
        if (const auto conflict = find(touched, *page, unit)) {
            const std::size_t first = address - touched.address;
            const bool both_plain_writes = plain_write && conflict->other_writes && !conflict->other_strong;
            const bool guess = touched.touch == Touch::read && touched.strength == Strength::plain &&
                               conflict->other_strong && !suspicion_;
            if (touched.shared && Scheduler::instance().shared().is_flag(address)) {
                told = true;
            } else if (guess) {
                suspicion_ = Suspicion{.touched = touched, .conflict = *conflict, .at = address};
                told = true;
            } else if (both_plain_writes && first + unit_bytes <= Suspicion::kMostBytes) {
                if (!suspicion_) {
                    suspicion_ = Suspicion{.touched = touched, .conflict = *conflict, .at = address};
                    std::memcpy(suspicion_->before.data(), reinterpret_cast<const void*>(touched.address),
                                std::min(touched.bytes, Suspicion::kMostBytes));
                }
                suspicion_->bytes |= ((1ULL << unit_bytes) - 1) << first;
            } else if (!told) {
                told = true;
                tell(touched, *conflict, address);
            }
        }
        note(touched, *page, unit);
        address += unit_bytes;
    }
    if (touched.touch == Touch::write) {
        hot.races.wrote = hot.races.now;
    }
    if (touched.strength != Strength::plain) {
        synchronise(touched);
    } else if (touched.touch == Touch::write) {
        auto& released = touched.shared ? current_->released : released_;
        if (!released.empty()) {
            released.erase(touched.address);
        }
    }
    return std::nullopt;
}

namespace {

// Apart, so that what is plain needs no frame.
template <std::size_t kBytes, bool kWrite>
[[gnu::noinline]] void judge_plain(std::uintptr_t offset, const void* site) {
    Races::instance().judge({.address = hot.device_begin + offset,
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

// What a strong access learns from those that wrote the variable, and hands on to those who read it.
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
    if (!reads || log == nullptr) {
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
        logs_.emplace_back();
        log = &logs_.back();
        log->variable = touched.address;
        released[touched.address] = log;
    }
    if (!any) {
        return;
    }
    if (log->releases.size() >= kMostReleases) {
        for (Release& old : log->releases) {
            if (old.block == release.block && old.thread == release.thread) {
                old = std::move(release);
                return;
            }
        }
    }
    log->releases.push_back(std::move(release));
}

// ---- reports ----------------------------------------------------------------------------------------------------------

// Once for each pair of lines.
bool Races::steps_aside(const Touched& touched, const Conflict& conflict) {
    const std::uint64_t pair = std::uint64_t{number_of(touched.site)} << 32 | conflict.site;
    return stepped_aside_.insert(pair).second;
}

// NVIDIA's own atomics by compare-and-swap begin with a plain read (CUDA C++ Programming Guide, "Atomic Functions").
// Whatever it reads, the swap finds out.
void Races::about_to_swap(std::uintptr_t address) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const Busy busy;
    if (const RacePage* page = page_if_any(address)) {
        const Cell reads = page->reads[address % RacePage::kBytes >> page->shift()];
        if (cell::time(reads) == hot.races.now &&
            (cell::who(reads) != Who::thread || cell::thread(reads) == hot.races.thread)) {
            guesses_.insert(cell::linked(reads) ? links_[cell::payload(reads)].top_site : cell::payload(reads));
        }
    }
    if (suspicion_ && suspicion_->touched.touch == Touch::read && suspicion_->touched.address == address) {
        suspicion_.reset();
    }
}

void Races::settle() {
    const Suspicion suspicion = *suspicion_;
    suspicion_.reset();
    if (suspicion.touched.touch == Touch::read) {
        tell(suspicion.touched, suspicion.conflict, suspicion.at);
        return;
    }
    const auto* now = reinterpret_cast<const unsigned char*>(suspicion.touched.address);
    for (std::size_t i = 0; i < std::min(suspicion.touched.bytes, Suspicion::kMostBytes); i++) {
        if ((suspicion.bytes >> i & 1U) != 0 && now[i] != suspicion.before[i]) {
            tell(suspicion.touched, suspicion.conflict, suspicion.at);
            return;
        }
    }
}

std::string Races::why(const Touched& touched, const Conflict& conflict, std::uint64_t block) const {
    const BlockClock& clock = current_->clock;
    const bool one_atomic = conflict.other_strong != (touched.strength != Strength::plain);
    const bool seen =
        clock.lane_if_any(hot.races.thread) != nullptr && !clock.lane_if_any(hot.races.thread)->pending.empty();
    if (block != clock.number) {
        if (conflict.other_strong && !one_atomic) {
            return "an atomic with _block in its name is atomic for its own block only, and the threads are of two";
        }
        if (one_atomic) {
            return "one of the two is atomic or volatile and the other is not, and blocks run in any order";
        }
        if (seen) {
            return "the blocks are ordered only where the one has a __threadfence() between what it writes and its "
                   "flag, and the other one between the flag and what it reads";
        }
        return "blocks of a launch run in any order and at the same time, and __syncthreads() waits for its own block "
               "only";
    }
    const std::string atomic =
        one_atomic ? "one of the two is atomic or volatile and the other is not, and " : std::string();
    if (cell::thread(conflict.other) / kLanes == hot.races.thread / kLanes) {
        return atomic +
               "lanes of a warp need not run in lockstep: only __syncwarp() or a barrier orders their memory (a "
               "shuffle "
               "or a vote does not), and none lies between";
    }
    return atomic + "the threads are of different warps, and no __syncthreads() lies between";
}

// Of several that read, the one that is known, if it can be the one.
std::string Races::text_of_other(const Conflict& conflict, std::uint64_t block) const {
    const Launch& launch = Scheduler::instance().launch();
    const std::uint32_t me = hot.races.thread, thread = cell::thread(conflict.other);
    const bool same_warp = block == current_->clock.number && thread / kLanes == me / kLanes;
    switch (cell::who(conflict.other)) {
        case Who::warp:
            if (same_warp) {
                const unsigned lanes = conflict.lanes & ~(1U << me % kLanes);
                if (lanes != 0) {
                    return thread_text(block, me / kLanes * kLanes + static_cast<unsigned>(std::countr_zero(lanes)),
                                       launch);
                }
                if (thread == me) {
                    return block_text(block, launch.grid) + ", another lane of the same warp";
                }
            }
            break;
        case Who::block:
            if (same_warp || links_.size() > kExactLinks) {
                return block_text(block, launch.grid) + (same_warp ? ", another warp" : ", one of its threads");
            }
            break;
        default:
            break;
    }
    return thread_text(block, thread, launch);
}

void Races::tell(const Touched& touched, const Conflict& conflict, std::uintptr_t address) {
    const void* other_site = site_of(conflict.site);
    const std::uint64_t pair =
        std::uint64_t{number_of(touched.site)} << 33 | std::uint64_t{conflict.site} << 1 | (touched.shared ? 1U : 0U);
    if (const auto known = told_.find(pair); known != told_.end()) {
        count_again(known->second);
        return;
    }
    const Launch& launch = Scheduler::instance().launch();
    const std::uint64_t block = touched.shared || cell::time(conflict.other) > hot.races.slice
                                    ? current_->clock.number
                                    : block_of(cell::time(conflict.other));
    const auto does = [](bool writes, bool reads, bool strong) {
        return fmt::format("{}{}",
                           writes && reads ? "changes"
                           : writes        ? "writes"
                                           : "reads",
                           strong ? " strongly" : "");
    };
    RaceSide here{.site = touched.site,
                  .what = does(touched.touch == Touch::write, touched.also_reads, touched.strength != Strength::plain),
                  .thread = thread_text(current_->clock.number, hot.races.thread, launch)};
    RaceSide there{.site = other_site,
                   .what = does(conflict.other_writes, false, conflict.other_strong),
                   .thread = text_of_other(conflict, block)};
    told_[pair] = report_race(touched.shared ? "shared" : "global", here, there, [&] {
        return RaceText{place_text(touched, address) + " is used by two threads, and nothing orders them",
                        why(touched, conflict, block)};
    });
}

}  // namespace simt
