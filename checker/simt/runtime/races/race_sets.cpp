// SPDX-License-Identifier: MIT
//
// Which accesses a cell stands for, and whether they happened before.
#include <algorithm>
#include <bit>

#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {

constinit LinkCache link_cache;

namespace {

constexpr std::size_t kMostLinks = cell::kMostSites - 1;
constexpr std::size_t kTableSlots = 2 * std::size_t{cell::kMostSites};

}  // namespace

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
                return true;  // nobody has kept which lanes it was: it may have been those
            }
            break;
        case Who::block:
            // Some of them belong to other warps; if the lane has acquired something from the block, it is not known
            // which.
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
            // Nobody keeps which lanes of a warp read global memory: in doubt they are those that the lane has met
            // since.
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
        // The thread that stays is the one to be named when somebody reads and then writes.
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
    // When there are many of them, only blocks are told apart. While no thread has fenced anything, one block is as
    // good a witness as several.
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

}  // namespace simt
