// SPDX-License-Identifier: MIT
//
// Where the cells of races.h lie.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/races/footprint.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {

std::size_t RacePage::bytes() const {
    std::size_t arrays = 0;
    for (const bool there :
         {reads != nullptr, writes != nullptr, strong_reads != nullptr, strong_writes != nullptr, lanes != nullptr}) {
        arrays += there ? 1 : 0;
    }
    const std::size_t runs = packed == nullptr ? 0 : packed->reads.size() + packed->writes.size();
    return arrays * units() * sizeof(Cell) + runs * sizeof(CellRun);
}

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

RacePage* Races::page_if_any(std::uintptr_t address) {
    if (Memory::instance().contains(address)) {
        const std::size_t number = (address - hot.device_begin) / RacePage::kBytes;
        RacePage* page = hot.races.pages[number];
        return page != nullptr && page->is_packed() && !unpack(number) ? nullptr : page;
    }
    if (Scheduler::instance().shared().marks(address, 1) != nullptr) {
        return shared_page(address).get();
    }
    const auto page = variable_pages_.find(address / RacePage::kBytes);
    return page == variable_pages_.end() ? nullptr : page->second.get();
}

void Races::note_words(std::size_t number) {
    const RacePage& page = *hot.races.pages[number];
    hot.races.words[number] = page.form == 2 && !page.doubted ? page.reads.get() : nullptr;
}

void Races::doubt(std::uintptr_t begin, std::size_t bytes) {
    const std::size_t first = (begin - hot.device_begin) / RacePage::kBytes;
    const std::size_t last = (begin + bytes - 1 - hot.device_begin) / RacePage::kBytes;
    for (std::size_t number = first; number <= last; number++) {
        if (hot.races.pages[number] != nullptr) {
            hot.races.pages[number]->doubted = true;
            note_words(number);
        }
    }
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
            keep_open(number);
        } else if (page->is_packed() && !unpack(number)) {
            return nullptr;
        }
        const std::uint8_t* const written = Memory::instance().marks(address);
        const std::size_t bytes = std::min(touched.address + touched.bytes - address, std::size_t{4});
        if (touched.touch == Touch::read && std::find(written, written + bytes, 0) != written + bytes) {
            doubt(address, bytes);
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
    if (touched.shared) {
        note_shared_cells(address);
    }
    return page;
}

// From now on units are smaller, and each has the history of the larger one.
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

// ---- pages that have not been touched for long are packed ----------------------------------------------------------------

namespace {

constexpr std::size_t kMostRuns = 16;
constexpr std::uint64_t kAskedForEach = 512;  // bytes that kernels ask for, for each page that is unpacked

// Nothing if there would be too many runs to be worth it.
std::optional<std::vector<CellRun>> runs_of(const Cell* cells, std::size_t units) {
    std::vector<CellRun> runs;
    for (std::size_t at = 0; at < units;) {
        if (runs.size() == kMostRuns) {
            return std::nullopt;
        }
        std::size_t times = 1;
        while (at + times < units && cells[at + times] == cells[at]) { times++; }
        std::size_t end = at + times;
        const Cell step = end < units ? cells[end] - cells[at] : 0;
        Cell expected = cells[at];
        for (bool same = step != 0; same;) {
            expected += step;
            const std::size_t stop = std::min(end + times, units);
            while (end < stop && cells[end] == expected) { end++; }
            same = end == stop && end < units;
        }
        runs.push_back({cells[at], step, static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(times)});
        at = end;
    }
    runs.shrink_to_fit();
    return runs;
}

void spread(const std::vector<CellRun>& runs, Cell* cells, std::size_t units) {
    for (std::size_t i = 0; i < runs.size(); i++) {
        const std::size_t end = i + 1 < runs.size() ? runs[i + 1].begin : units;
        Cell value = runs[i].first;
        for (std::size_t at = runs[i].begin; at < end; value += runs[i].step) {
            const std::size_t stop = std::min<std::size_t>(at + runs[i].times, end);
            while (at < stop) { cells[at++] = value; }
        }
    }
}

}  // namespace

void Races::keep_at_most_open(std::size_t pages) {
    release_pages();
    most_open_ = pages;
    unpacked_ = hot.counts.bytes() / kAskedForEach;
}

// A page of the device's memory with its cells. Unpacking costs as much as some hundred accesses: if kernels keep
// coming back to a few words of many pages, these pages stay open for good.
void Races::keep_open(std::size_t number) {
    if (unpacked_ * kAskedForEach > hot.counts.bytes()) {
        return;
    }
    open_pages_.push_back(number);
    if (open_pages_.size() > most_open_) {
        const std::size_t oldest = open_pages_.front();
        open_pages_.pop_front();
        pack(*hot.races.pages[oldest]);
        note_words(oldest);
    }
}

void Races::pack(RacePage& page) {
    if (page.strong()) {
        return;
    }
    auto reads = runs_of(page.reads.get(), page.units());
    auto writes = page.writes == nullptr ? std::vector<CellRun>() : runs_of(page.writes.get(), page.units());
    if (!reads || !writes) {
        return;
    }
    Cell newest = 0;
    for (const Cell* cells : {page.reads.get(), page.writes.get()}) {
        newest = cells == nullptr ? newest : std::max(newest, *std::max_element(cells, cells + page.units()));
    }
    shadow_bytes_ -= page.bytes();
    page.packed = std::make_unique<PackedCells>(PackedCells{std::move(*reads), std::move(*writes), cell::time(newest)});
    page.reads.reset();
    page.writes.reset();
    page.form |= RacePage::kPacked;
    shadow_bytes_ += page.bytes();
}

// False if there is no room left for its cells.
bool Races::unpack(std::size_t number) {
    RacePage& page = *hot.races.pages[number];
    const bool stale = page.packed->newest <= launch_began_;
    const bool written = !stale && !page.packed->writes.empty();
    if (!give_memory((written ? 2 : 1) * page.units() * sizeof(Cell))) {
        return false;
    }
    shadow_bytes_ -= page.bytes();
    page.reads = std::make_unique<Cell[]>(page.units());
    if (!stale) {
        spread(page.packed->reads, page.reads.get(), page.units());
    }
    if (written) {
        page.writes = std::make_unique<Cell[]>(page.units());
        spread(page.packed->writes, page.writes.get(), page.units());
    }
    page.packed.reset();
    page.form &= static_cast<std::uint16_t>(~RacePage::kPacked);
    unpacked_++;
    note_words(number);
    keep_open(number);
    return true;
}

void Races::release_pages() {
    for (const std::size_t number : used_pages_) {
        delete hot.races.pages[number];
        hot.races.pages[number] = nullptr;
        hot.races.words[number] = nullptr;
    }
    used_pages_.clear();
    open_pages_.clear();
    variable_pages_.clear();
    idle_.clear();  // their shared memory's
    shadow_bytes_ = 0;
}

// What the launch that has just run did there. Its accesses have the launch's own times.
void Races::leave_page(const RacePage& page, std::uintptr_t begin) const {
    const std::size_t unit = std::size_t{1} << page.shift();
    const auto leave = [&](const Cell* cells, Use use) {
        for (std::size_t i = 0; cells != nullptr && i < page.units(); i++) {
            const Cell c = cells[i];
            if (c == 0 || cell::time(c) <= launch_began_) {
                continue;
            }
            const std::uint32_t site = cell::linked(c) ? links_[cell::payload(c)].top_site : cell::payload(c);
            const bool within_block = strong(use) && cell::narrow(c);  // of no use beyond it
            collect_->add(within_block ? (writes(use) ? Use::write : Use::read) : use,
                          {.begin = begin + i * unit,
                           .end = begin + (i + 1) * unit,
                           .site = site_of(site),
                           .block = block_of(cell::time(c)),
                           .thread = cell::thread(c)});
        }
    };
    if (page.is_packed() && page.packed->newest > launch_began_) {
        std::vector<Cell> cells(page.units());
        for (const Use use : {Use::read, Use::write}) {
            const std::vector<CellRun>& runs = use == Use::read ? page.packed->reads : page.packed->writes;
            if (!runs.empty()) {
                spread(runs, cells.data(), cells.size());
                leave(cells.data(), use);
            }
        }
    }
    leave(page.reads.get(), Use::read);
    leave(page.writes.get(), Use::write);
    leave(page.strong_reads.get(), Use::strong_read);
    leave(page.strong_writes.get(), Use::strong_write);
}

// Pages stay when their memory is freed. The launch has touched none of those, and they are many in a long process.
void Races::export_footprint() const {
    const Memory& memory = Memory::instance();
    std::vector<std::size_t> pages = used_pages_;
    std::sort(pages.begin(), pages.end());
    for (const std::size_t number : pages) {
        const std::uintptr_t begin = hot.device_begin + number * RacePage::kBytes;
        if (hot.races.pages[number] != nullptr && (collect_all_ || !memory.is_device_only(begin)) &&
            memory.is_any_alive(begin, RacePage::kBytes)) {
            leave_page(*hot.races.pages[number], begin);
        }
    }
    for (const auto& [number, page] : variable_pages_) {
        if (collect_all_) {
            leave_page(*page, number * RacePage::kBytes);
        }
    }
}

}  // namespace simt
