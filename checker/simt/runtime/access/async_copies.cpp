// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/access/async_copies.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "checker/simt/include/simt/async_copies.h"
#include "checker/simt/runtime/access/focus.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/requests/traffic_trace.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

std::uint32_t number_in_block(const Lane& lane) {
    return static_cast<std::uint32_t>(&lane - lane.block->lanes.data());
}

AsyncCopies& copies_of(Block& block) {
    if (block.copies == nullptr) {
        const InRuntime in_runtime;
        block.copies = std::make_shared<AsyncCopies>(block);
    }
    return *block.copies;
}

// For the search for races.
Touched source_of_copy(const AsyncCopy& copy) {
    return {.address = copy.from,
            .bytes = copy.source == Space::global ? copy.source_bytes : 0,
            .touch = Touch::read,
            .strength = Strength::plain,
            .site = copy.site,
            .shared = false};
}
Touched destination_of_copy(const AsyncCopy& copy) {
    return {.address = copy.to,
            .bytes = copy.bytes,
            .touch = Touch::write,
            .strength = Strength::plain,
            .site = copy.site,
            .shared = true};
}

// Whether both bring the same values to the bytes that they have in common.
bool bring_the_same(const AsyncCopy& a, const AsyncCopy& b) {
    for (std::uintptr_t at = std::max(a.to, b.to); at < std::min(a.to + a.bytes, b.to + b.bytes); at++) {
        const std::uintptr_t from_a = at - a.to < a.source_bytes ? a.from + (at - a.to) : 0;
        const std::uintptr_t from_b = at - b.to < b.source_bytes ? b.from + (at - b.to) : 0;
        if (from_a != from_b) {
            return false;
        }
    }
    return true;
}

void issue(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, std::size_t source_bytes, bool judged,
           const void* site) {
    Lane& lane = calling_lane();
    AsyncCopy copy{.to = to,
                   .from = from,
                   .bytes = static_cast<std::uint32_t>(bytes),
                   .source_bytes = static_cast<std::uint32_t>(source_bytes),
                   .judged = judged && hot.checking,
                   .source = Space::none,
                   .thread = number_in_block(lane),
                   .group = 0,
                   .waits = 0,
                   .issued = 0,
                   .site = site};
    if (copy.judged) {
        if (source_bytes != 0) {
            copy.source = judge_copy_source(from, source_bytes, bytes, site);
        }
        if (!judge_copy_destination(to, bytes, site)) {
            return;
        }
        if (hot.trace.next != nullptr) {  // two requests of one line: the load's comes first
            if (source_bytes != 0) {
                note_in_trace(packed(from, trace_kind(Access::copy, Space::global), source_bytes),
                              static_cast<const char*>(site) - 1);
            }
            note_in_trace(packed(to, trace_kind(Access::copy, Space::shared), bytes), site);
        }
    }
    copies_of(*lane.block).issue(copy);
}

}  // namespace

AsyncCopies::AsyncCopies(const Block& block) : block_(block), threads_(block.lanes.size()) {}

void AsyncCopies::issue(AsyncCopy copy) {
    OfThread& mine = threads_[copy.thread];
    copy.group = mine.groups;
    copy.waits = mine.waits;
    if (copy.judged) {
        SharedMemory& shared = Scheduler::instance().shared();
        Mark* const marks = shared.marks(copy.to, copy.bytes);
        if (std::find(marks, marks + copy.bytes, Mark::on_its_way) != marks + copy.bytes) {
            land_overlapping(copy);
        }
        copy.issued = Races::instance().begin_copy(source_of_copy(copy), destination_of_copy(copy));
        const InRuntime in_runtime;
        whose_.resize(shared.size());
        for (std::size_t i = 0; i < copy.bytes; i++) {
            marks[i] = Mark::on_its_way;
            whose_[shared.index_of(copy.to + i)] = static_cast<std::uint16_t>(copy.thread);
        }
    }
    const InRuntime in_runtime;
    if (count_ >= kMost) {
        land_first(mine, mine.copies.size());
    }
    mine.copies.push_back(copy);
    count_++;
}

// Only one copy is on its way to a byte: what a new one finds on its way lands before it.
void AsyncCopies::land_overlapping(const AsyncCopy& copy) {
    const InRuntime in_runtime;
    const Mark* const marks = Scheduler::instance().shared().marks(copy.to, copy.bytes);
    for (std::size_t i = 0; i < copy.bytes; i++) {
        if (marks[i] != Mark::on_its_way) {
            continue;
        }
        const AsyncCopy old = on_its_way_to(copy.to + i);
        if (!bring_the_same(old, copy)) {
            Races::instance().report_copy_race(destination_of_copy(copy), old.site, old.thread, old.issued,
                                               copy.to + i);
        }
        land(old);
        std::vector<AsyncCopy>& its = threads_[old.thread].copies;
        its.erase(std::find_if(its.begin(), its.end(), [&](const AsyncCopy& one) { return one.to == old.to; }));
        count_--;
    }
}

void AsyncCopies::land(const AsyncCopy& copy) {
    hot.site = copy.site;
    auto* const to = reinterpret_cast<unsigned char*>(copy.to);
    std::memcpy(to, reinterpret_cast<const void*>(copy.from), copy.source_bytes);
    std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
    hot.counts.other_changes++;
    if (!copy.judged) {
        return;
    }
    const Memory& memory = Memory::instance();
    const std::uint8_t* const written =
        copy.source == Space::global && memory.contains(copy.from) ? memory.marks(copy.from) : nullptr;
    Mark* const marks = Scheduler::instance().shared().marks(copy.to, copy.bytes);
    for (std::size_t i = 0; i < copy.bytes; i++) {
        const bool unwritten = written != nullptr && i < copy.source_bytes && written[i] == 0;
        marks[i] = unwritten ? Mark::copied_unwritten : Mark::written;
    }
}

void AsyncCopies::land_first(OfThread& mine, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
        const AsyncCopy& copy = mine.copies[i];
        if (tracing) {
            trace_access(copy.to, copy.bytes, Access::write, copy.site);
        }
        land(copy);
        if (copy.judged) {
            Races::instance().end_copy(source_of_copy(copy), destination_of_copy(copy), copy.issued);
        }
    }
    mine.copies.erase(mine.copies.begin(), mine.copies.begin() + static_cast<std::ptrdiff_t>(count));
    count_ -= count;
}

void AsyncCopies::commit(std::uint32_t thread) {
    threads_[thread].groups++;
}

void AsyncCopies::wait(std::uint32_t thread, std::uint64_t newest) {
    OfThread& mine = threads_[thread];
    mine.groups_at_wait = mine.groups;
    mine.newest_at_wait = newest;
    mine.waits++;
    const std::uint64_t landing = mine.groups > newest ? mine.groups - newest : 0;
    const auto end = std::partition_point(mine.copies.begin(), mine.copies.end(),
                                          [&](const AsyncCopy& copy) { return copy.group < landing; });
    land_first(mine, static_cast<std::size_t>(end - mine.copies.begin()));
}

const AsyncCopy& AsyncCopies::on_its_way_to(std::uintptr_t address) const {
    const std::vector<AsyncCopy>& copies = threads_[whose_[Scheduler::instance().shared().index_of(address)]].copies;
    return *std::find_if(copies.begin(), copies.end(),
                         [&](const AsyncCopy& copy) { return address - copy.to < copy.bytes; });
}

std::string AsyncCopies::text_of(const AsyncCopy& copy) const {
    const OfThread& its = threads_[copy.thread];
    const Lane& lane = block_.lanes[copy.thread];
    const std::string who = &lane == hot.lane ? "the same thread" : simt::text_of(lane);
    const std::string issued = fmt::format("{} issued it at {}", who, simt::text_of(source_of(copy.site)));
    if (lane.state == LaneState::exited) {
        return issued + " and ended without a wait for it";
    }
    if (copy.waits == its.waits) {
        return issued + " and has not waited since";
    }
    if (copy.group >= its.groups_at_wait) {
        return issued + " and had committed it to no group when it waited: a wait is for groups";
    }
    return fmt::format("{} and has waited for all but its newest {}, of which it is one", issued,
                       its.newest_at_wait == 1 ? "group" : fmt::format("{} groups", its.newest_at_wait));
}

void judge_use_of_copy(std::uintptr_t address, Access access, const void* site,
                       const std::function<std::string()>& what) {
    const AsyncCopies& copies = *hot.lane->block->copies;
    SharedMemory& shared = Scheduler::instance().shared();
    const AsyncCopy& copy = copies.on_its_way_to(address);
    // A thread that reads too early has not waited. If not even the issue came before the read, that is what is wrong.
    if (access == Access::write || !Races::instance().happened_before(copy.thread, copy.issued)) {
        Races::instance().report_copy_race({.address = address,
                                            .bytes = 1,
                                            .touch = access == Access::read ? Touch::read : Touch::write,
                                            .strength = Strength::plain,
                                            .site = site,
                                            .shared = true},
                                           copy.site, copy.thread, copy.issued, address);
        return;
    }
    report(Kind::uninitialised, "shared", site, [&] {
        return fmt::format("{} that an asynchronous copy is on its way to: {}; {}", what(), shared.place_of(address),
                           copies.text_of(copy));
    });
}

// ---- what kernels call --------------------------------------------------------------------------------------------------

#define SIMT_SITE __builtin_return_address(0)

void copy_async(void* shared, const void* global, std::size_t bytes, std::size_t source_bytes, bool judged) {
    const void* const site = SIMT_SITE;
    const bool size_is_right = bytes == 4 || bytes == 8 || bytes == 16;
    if (!size_is_right || source_bytes > bytes) {
        calling_lane();
        report(Kind::bad_copy, "", site, [&] {
            return size_is_right ? fmt::format("an asynchronous copy of {} bytes takes {} from its source", bytes,
                                               static_cast<std::ptrdiff_t>(source_bytes))
                                 : fmt::format("an asynchronous copy of {} bytes: it has 4, 8 or 16", bytes);
        });
        Scheduler::instance().abandon(cudaErrorLaunchFailure);
    }
    issue(reinterpret_cast<std::uintptr_t>(shared), reinterpret_cast<std::uintptr_t>(global), bytes, source_bytes,
          judged, site);
}

void copy_async_part(void* to, const void* from, std::size_t bytes, std::size_t alignment, unsigned int rank,
                     unsigned int parts, bool judged) {
    const void* const site = SIMT_SITE;
    calling_lane();
    constexpr std::size_t kMost = 16;
    const auto begin_to = reinterpret_cast<std::uintptr_t>(to);
    const auto begin_from = reinterpret_cast<std::uintptr_t>(from);
    std::size_t chunk = std::min(alignment, kMost);
    if (chunk < 4) {
        chunk = std::size_t{1} << std::countr_zero(begin_to | begin_from | bytes | kMost);
    }
    const bool async = goes_from_global_to_shared(begin_to, begin_from);
    for (std::size_t at = rank * chunk; at + chunk <= bytes; at += parts * chunk) {
        if (async) {
            issue(begin_to + at, begin_from + at, chunk, chunk, judged, site);
        } else {
            judge_span(static_cast<const char*>(from) + at, chunk, Access::read, site);
            judge_span(static_cast<char*>(to) + at, chunk, Access::write, site);
            std::memmove(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, chunk);
        }
    }
}

static void wait(const Lane& lane, std::size_t newest, const void* site) {
    AsyncCopies& copies = *lane.block->copies;
    copies.wait(number_in_block(lane), newest);
    if (hot.trace.next != nullptr && !copies.any_of(number_in_block(lane))) {
        note_in_trace(packed(0, TraceKind::landed, 0), site);
    }
}

void commit_copies() {
    const Lane& lane = calling_lane();
    copies_of(*lane.block).commit(number_in_block(lane));
}

void wait_for_copies(std::size_t newest) {
    const Lane& lane = calling_lane();
    if (tracing) {
        trace_wait("wait for asynchronous copies", SIMT_SITE);
    }
    if (lane.block->copies != nullptr) {
        wait(lane, newest, SIMT_SITE);
    }
}

void bind_copies() {
    const Lane& lane = calling_lane();
    copies_of(*lane.block).bind(number_in_block(lane));
}

void land_bound_copies() {
    const Lane& lane = calling_lane();
    if (lane.block->copies != nullptr && lane.block->copies->unbind(number_in_block(lane))) {
        lane.block->copies->commit(number_in_block(lane));
        wait(lane, 0, SIMT_SITE);
    }
}

void wait_for_all_copies() {
    commit_copies();
    const Lane& lane = calling_lane();
    if (tracing) {
        trace_wait("wait for all asynchronous copies", SIMT_SITE);
    }
    wait(lane, 0, SIMT_SITE);
}

}  // namespace simt
