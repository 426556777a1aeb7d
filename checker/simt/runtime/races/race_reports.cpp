// SPDX-License-Identifier: MIT
//
// What a report says of a race, and which suspicions are no race after all.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

std::string block_text(std::uint64_t block, dim3 grid) {
    return fmt::format("block ({}, {}, {})", block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y);
}

std::string place_text(const Touched& touched, std::uintptr_t address) {
    return touched.shared ? Scheduler::instance().shared().place_of(address) : place_of_global(address);
}

}  // namespace

std::string place_of_global(std::uintptr_t address) {
    if (Memory::instance().contains(address)) {
        const Allocation* allocation = Memory::instance().find(address);
        return allocation == nullptr ? "global memory" : place_in(*allocation, address);
    }
    const Module* module = module_of(reinterpret_cast<const void*>(address));
    const Symbol* variable =
        module == nullptr || module->section_of(address) == Section::none ? nullptr : module->variable_at(address);
    return variable == nullptr ? "registered memory of the host"
                               : fmt::format("byte {} of the device variable {} ({} bytes)", address - variable->begin,
                                             variable->name(), variable->bytes);
}

std::string thread_text(std::uint64_t block, std::uint32_t thread, dim3 grid, dim3 extent) {
    return fmt::format("{}, thread ({}, {}, {})", block_text(block, grid), thread % extent.x,
                       thread / extent.x % extent.y, thread / extent.x / extent.y);
}

// Once for each pair of lines.
bool Races::should_yield(const Touched& touched, std::uint32_t other_site) {
    const std::uint64_t pair = std::uint64_t{number_of(touched.site)} << 32 | other_site;
    return stepped_aside_.insert(pair).second;
}

// NVIDIA's own atomics that are made of compare-and-swap begin with a plain read (CUDA C++ Programming Guide, "Atomic
// Functions"). The swap notices whatever it has read.
void Races::about_to_swap(std::uintptr_t address) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const InRuntime in_runtime;
    note_synchronisation();
    if (const RacePage* page = page_if_any(address)) {
        const Cell reads = page->reads[address % RacePage::kBytes >> page->shift()];
        if (cell::time(reads) == hot.races.now &&
            (cell::who(reads) != Who::thread || cell::thread(reads) == hot.races.thread)) {
            guesses_.insert(cell::linked(reads) ? links_[cell::payload(reads)].top_site : cell::payload(reads));
        }
    }
    if (suspicion_ && suspicion_->touched.touch == Touch::read && suspicion_->touched.address == address) {
        suspicion_.reset();
        expose_shared();
    }
}

void Races::settle() {
    const Suspicion suspicion = *suspicion_;
    suspicion_.reset();
    expose_shared();
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
    // Two stores by one line that reads nothing first are rarely meant to come one after the other.
    const bool one_store = touched.touch == Touch::write && conflict.other_writes && !touched.also_reads &&
                           touched.strength == Strength::plain && !conflict.other_strong && !is_copy(touched.site) &&
                           text_of(source_of(touched.site)) == text_of(source_of(site_of(conflict.site)));
    if (one_store && block != clock.number) {
        return "the same line stored there for threads of two blocks, so both came to one index: an index past the end "
               "of its row is in the next row, or two blocks were given the same work";
    }
    if (block != clock.number) {
        if (conflict.other_strong && !one_atomic) {
            return "an atomic with _block in its name is atomic for its own block only, and the threads are of two";
        }
        if (one_atomic) {
            return "one of the two is atomic or volatile and the other is not, and blocks run in any order";
        }
        return "blocks of a launch run in any order and at the same time: __syncthreads() waits for its own block "
               "only, "
               "and a flag orders them where the one has a __threadfence() before it and the other one behind it";
    }
    const std::string atomic = one_atomic ? "one of the two is atomic or volatile and the other is not, and "
                               : is_copy(touched.site) || is_copy(site_of(conflict.site))
                                   ? "the wait for an asynchronous copy is its own thread's, and "
                                   : std::string();
    const std::string index =
        one_store ? "; the same line stores for both: is the index of each thread one of its own?" : std::string();
    const std::string turns = this->turns(touched, conflict);
    if (in_one_warp(conflict, block)) {
        if (conflict.other_strong && !one_atomic) {
            return "volatile puts nothing in order between lanes, which since Volta need not run in lockstep: a "
                   "__syncwarp() belongs between what one lane reads and what another one writes there, before and "
                   "after";
        }
        return atomic +
               "lanes of a warp need not run in lockstep: only __syncwarp() or a barrier orders their memory (a "
               "shuffle or a vote does not), and none lies between" +
               turns + index;
    }
    return atomic + "the threads are of different warps, and no __syncthreads() lies between" + turns + index;
}

// Which of the two came first where a loop has only one barrier, between its lines: ": read in one turn of the loop,
// overwritten in the next". What follows the barrier in the text came first, and the rest after the way back.
std::string Races::turns(const Touched& touched, const Conflict& conflict) const {
    const void* const syncwarp = current_->syncwarp[hot.races.thread / kLanes];
    const bool one_warp = in_one_warp(conflict, current_->clock.number);
    const void* const met = one_warp && syncwarp != nullptr ? syncwarp : current_->barrier;
    if (met == nullptr) {
        return "";
    }
    const auto in_kernel = [](const SourceLine& line) { return line.caller == nullptr ? line : *line.caller; };
    const SourceLine &a = source_of(touched.site), &b = source_of(site_of(conflict.site)), &between = source_of(met);
    const auto told = [&](const SourceLine& mine, const SourceLine& others, const SourceLine& barrier) -> std::string {
        const bool i_am_first = mine.line > barrier.line && others.line < barrier.line;
        const bool other_is_first = others.line > barrier.line && mine.line < barrier.line;
        if (mine.file != barrier.file || others.file != barrier.file || (!i_am_first && !other_is_first)) {
            return "";
        }
        const bool i_write = touched.touch == Touch::write;
        const bool first_writes = i_am_first ? i_write : conflict.other_writes;
        const bool then_writes = i_am_first ? conflict.other_writes : i_write;
        return fmt::format(": {} in one turn of the loop, {} in the next", first_writes ? "written" : "read",
                           then_writes ? "overwritten" : "read");
    };
    const std::string text = told(in_kernel(a), in_kernel(b), in_kernel(between));
    return text.empty() && a.function == b.function && a.function == between.function ? told(a, b, between) : text;
}

// Of the readers of several warps one is another warp's, and not the one that is known where that is the thread's own.
bool Races::in_one_warp(const Conflict& conflict, std::uint64_t block) const {
    return block == current_->clock.number && cell::who(conflict.other) != Who::block &&
           cell::thread(conflict.other) / kLanes == hot.races.thread / kLanes;
}

// Of several readers, the one that is known, if it may be the right one.
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
                                       launch.grid, launch.block);
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
    return thread_text(block, thread, launch.grid, launch.block);
}

void Races::report_copy_race(const Touched& touched, const void* copy_site, std::uint32_t copy_thread, Time issued,
                             std::uintptr_t address) {
    if (!hot.races.on || current_ == nullptr) {
        return;
    }
    const InRuntime in_runtime;
    tell(touched,
         {.other = cell::make(issued, Who::thread, copy_thread, false, false, 0),
          .site = number_of(copy_site),
          .other_writes = true,
          .other_strong = false,
          .lanes = 0},
         address, happened_before(copy_thread, issued));
}

void Races::tell(const Touched& touched, const Conflict& conflict, std::uintptr_t address, bool on_its_way) {
    const void* other_site = site_of(conflict.site);
    // Lanes out of step race at every pair of a reduction's lines: each line that reads is told with one that writes.
    const bool out_of_step = touched.shared && touched.strength != Strength::plain && conflict.other_strong;
    const std::uint32_t number = out_of_step ? 0 : number_of(touched.site);
    const std::uint64_t pair =
        std::uint64_t{number} << 33 | std::uint64_t{conflict.site} << 1 | (touched.shared ? 1U : 0U);
    const std::uint64_t block = touched.shared || cell::time(conflict.other) > hot.races.slice
                                    ? current_->clock.number
                                    : block_of(cell::time(conflict.other));
    const bool near =
        block == current_->clock.number && cell::thread(conflict.other) / kLanes == hot.races.thread / kLanes;
    const Specificity specificity = in_one_warp(conflict, block) ? Specificity::two_lanes
                                    : near                       ? Specificity::another_warp
                                                                 : Specificity::two_threads;
    if (const auto known = reported_.find(pair); known != reported_.end() && known->second.specificity >= specificity) {
        count_again(known->second.finding);
        return;
    }
    const Launch& launch = Scheduler::instance().launch();
    const auto does = [&](const void* site, bool writes, bool reads, bool strong) {
        return fmt::format("{}{}{}",
                           writes && reads ? "changes"
                           : writes        ? "writes"
                                           : "reads",
                           strong ? " strongly" : "", is_copy(site) ? " by an asynchronous copy" : "");
    };
    RaceSide here{.site = touched.site,
                  .what = does(touched.site, touched.touch == Touch::write, touched.also_reads,
                               touched.strength != Strength::plain),
                  .thread = thread_text(current_->clock.number, hot.races.thread, launch.grid, launch.block)};
    RaceSide there{.site = other_site,
                   .what = does(other_site, conflict.other_writes, false, conflict.other_strong),
                   .thread = text_of_other(conflict, block)};
    const std::size_t finding = report_race(touched.shared ? "shared" : "global", here, there, specificity, [&] {
        return on_its_way ? RaceText{place_text(touched, address) + " is written while an asynchronous copy " +
                                         (touched.shared ? "to" : "of") + " it is on its way",
                                     "a copy is made at any time from its issue to the end of its thread's wait for it",
                                     running_kernel_name()}
                          : RaceText{place_text(touched, address) + " is used by two threads, and nothing orders them",
                                     why(touched, conflict, block), running_kernel_name()};
    });
    reported_[pair] = {finding, specificity};
}

}  // namespace simt
