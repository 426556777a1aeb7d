// SPDX-License-Identifier: MIT
//
// Races of asynchronous copies (async_copies.h).
#include <cstring>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/races/races.h"

namespace simt {

Time Races::begin_copy(const Touched& source, const Touched& destination) {
    if (!hot.races.on || current_ == nullptr) {
        return 0;
    }
    if (source.bytes != 0) {
        touch(source);
    }
    const InRuntime in_runtime;
    if (suspicion_) {
        settle();
    }
    copy_sites_.insert(destination.site);
    bool told = false;
    each_unit(destination, [&](const RacePage& page, std::size_t unit, std::uintptr_t address) {
        const auto conflict = told ? std::nullopt : find(destination, page, unit);
        if (!conflict) {
            return;
        }
        // Two writes of one value are no race. What lies there now is what the other thread has written.
        const std::size_t at = address - destination.address;
        const std::size_t bytes = std::size_t{1} << page.shift();
        const bool both_write = conflict->other_writes && !conflict->other_strong;
        const bool same = both_write && at + bytes <= source.bytes &&
                          std::memcmp(reinterpret_cast<const void*>(address),
                                      reinterpret_cast<const void*>(source.address + at), bytes) == 0;
        if (!same) {
            told = true;
            tell(destination, *conflict, address);
        }
    });
    const Time issued = hot.races.now;
    set_now(issued + 1);
    set_alone();
    return issued;
}

bool Races::happened_before(std::uint32_t thread, Time time) const {
    return !hot.races.on || current_ == nullptr ||
           ordered(cell::make(time, Who::thread, thread, false, false, 0), true, nullptr, 0);
}

void Races::end_copy(const Touched& source, const Touched& destination, Time issued) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const InRuntime in_runtime;
    if (suspicion_) {
        settle();
    }
    bool told = false;
    each_unit(source, [&](RacePage& page, std::size_t unit, std::uintptr_t address) {
        for (const bool strong : {false, true}) {
            const Cell* const cells = strong ? page.strong_writes.get() : page.writes.get();
            if (cells == nullptr || cell::time(cells[unit]) <= issued || told) {
                continue;
            }
            told = true;
            const std::uint32_t payload = cell::payload(cells[unit]);
            tell(source,
                 {.other = cells[unit],
                  .site = cell::linked(cells[unit]) ? links_[payload].top_site : payload,
                  .other_writes = true,
                  .other_strong = strong,
                  .lanes = 0},
                 address, true);
        }
        note(source, page, unit);
    });
    each_unit(destination, [&](RacePage& page, std::size_t unit, std::uintptr_t) { note(destination, page, unit); });
    hot.races.wrote = hot.races.now;
    if (!current_->released.empty()) {
        current_->released.erase(destination.address);
    }
}

}  // namespace simt
