// SPDX-License-Identifier: MIT
//
// Barriers, warp collectives, fences and time, as kernels call them.
#include <chrono>
#include <string>

#include "checker/simt/include/simt/bits.h"
#include "checker/simt/include/simt/clock.h"
#include "checker/simt/include/simt/group_functions.h"
#include "checker/simt/include/simt/ptx.h"
#include "checker/simt/include/simt/synchronise.h"
#include "checker/simt/include/simt/warp.h"
#include "checker/simt/runtime/access/focus.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/scheduler.h"

#define SIMT_SITE __builtin_return_address(0)

namespace simt {
namespace {

Collective collect(CollectiveKind kind, unsigned mask, std::uint64_t value, const void* site,
                   const char* name = nullptr) {
    Collective request{.kind = kind, .mask = mask, .value = value, .site = site, .name = name};
    Scheduler::instance().collective(request);
    return request;
}

}  // namespace

std::size_t shared_offset(const void* address) {
    const auto generic = reinterpret_cast<std::uintptr_t>(address);
    return running_lane() == nullptr ? generic : Scheduler::instance().shared().offset_of(generic).value_or(generic);
}
void* shared_address(std::size_t offset) {
    return reinterpret_cast<void*>(
        running_lane() == nullptr ? offset : Scheduler::instance().shared().address_of(offset).value_or(offset));
}

unsigned long long grid_id() {
    return Scheduler::instance().launches();
}

std::uint64_t shuffle(Shuffle kind, unsigned int mask, std::uint64_t bits, unsigned int bytes, int operand, int width,
                      const char* name) {
    if (width < 1 || width > static_cast<int>(kLanes) || (width & (width - 1)) != 0) {
        report(Kind::collective, "", SIMT_SITE,
               [&] { return "a shuffle of width " + std::to_string(width) + ", which is none of 1, 2, 4, 8, 16, 32"; });
        Scheduler::instance().abandon(cudaErrorLaunchFailure);
    }
    Collective request{.kind = CollectiveKind::shuffle,
                       .operation = static_cast<std::uint8_t>(kind),
                       .mask = mask,
                       .value = bits,
                       .operand = operand,
                       .width = width,
                       .site = SIMT_SITE,
                       .name = name,
                       .shuffles = static_cast<std::uint8_t>((bytes + 3) / 4)};
    Scheduler::instance().collective(request);
    return request.result;
}

unsigned int match_any(unsigned int mask, std::uint64_t bits, const char* name) {
    return static_cast<unsigned>(collect(CollectiveKind::match_any, mask, bits, SIMT_SITE, name).result);
}

unsigned int match_all(unsigned int mask, std::uint64_t bits, int* predicate, const char* name) {
    const Collective request = collect(CollectiveKind::match_all, mask, bits, SIMT_SITE, name);
    *predicate = request.predicate;
    return static_cast<unsigned>(request.result);
}

unsigned int reduce_unsigned(Reduce kind, unsigned int mask, unsigned int value) {
    Collective request{.kind = CollectiveKind::reduce_unsigned,
                       .operation = static_cast<std::uint8_t>(kind),
                       .mask = mask,
                       .value = value,
                       .site = SIMT_SITE};
    Scheduler::instance().collective(request);
    return static_cast<unsigned>(request.result);
}

int reduce_signed(Reduce kind, unsigned int mask, int value) {
    Collective request{.kind = CollectiveKind::reduce_signed,
                       .operation = static_cast<std::uint8_t>(kind),
                       .mask = mask,
                       .value = static_cast<unsigned>(value),
                       .site = SIMT_SITE};
    Scheduler::instance().collective(request);
    return static_cast<int>(request.result);
}

void sync_group(unsigned int mask) {
    collect(CollectiveKind::sync, mask, 0, SIMT_SITE, "a group's sync()");
}
unsigned int group_ballot(unsigned int mask, int predicate, const char* name) {
    return static_cast<unsigned>(collect(CollectiveKind::ballot, mask, predicate != 0 ? 1 : 0, SIMT_SITE, name).result);
}
int group_any(unsigned int mask, int predicate) {
    return static_cast<int>(
        collect(CollectiveKind::any, mask, predicate != 0 ? 1 : 0, SIMT_SITE, "a group's any()").result);
}
int group_all(unsigned int mask, int predicate) {
    return static_cast<int>(
        collect(CollectiveKind::all, mask, predicate != 0 ? 1 : 0, SIMT_SITE, "a group's all()").result);
}

void sync_grid() {
    Scheduler::instance().grid_barrier(SIMT_SITE);
}
bool launched_together() {
    return Scheduler::instance().launch().cooperative;
}

void no_such_rank(unsigned int rank, unsigned int threads) {
    report(Kind::collective, "", SIMT_SITE, [&] {
        return "a group's shfl() reads rank " + std::to_string(rank) + " of a group of " + std::to_string(threads) +
               (threads == 1 ? " thread" : " threads") + ": its value is undefined";
    });
}

void too_little_tile_memory(unsigned int most, unsigned int threads) {
    report(Kind::collective, "", SIMT_SITE, [&] {
        return "block_tile_memory<" + std::to_string(most) + "> is for blocks of at most " + std::to_string(most) +
               " threads, and this one has " + std::to_string(threads);
    });
}

void check_tile(unsigned int threads) {
    if (threads < 1 || threads > kLanes || (threads & (threads - 1)) != 0) {
        report(Kind::collective, "", SIMT_SITE, [&] {
            return "a tile of " + std::to_string(threads) + " threads, which is none of 1, 2, 4, 8, 16, 32";
        });
        Scheduler::instance().abandon(cudaErrorLaunchFailure);
    }
}

}  // namespace simt

using simt::BarrierKind;
using simt::CollectiveKind;
using simt::Scheduler;

extern "C" {

void __syncthreads() {
    Scheduler::instance().barrier(BarrierKind::plain, 0, SIMT_SITE);
}
int __syncthreads_count(int predicate) {
    return Scheduler::instance().barrier(BarrierKind::count, predicate, SIMT_SITE);
}
int __syncthreads_and(int predicate) {
    return Scheduler::instance().barrier(BarrierKind::all, predicate, SIMT_SITE);
}
int __syncthreads_or(int predicate) {
    return Scheduler::instance().barrier(BarrierKind::any, predicate, SIMT_SITE);
}

void __syncwarp(unsigned int mask) {
    simt::collect(CollectiveKind::sync, mask, 0, SIMT_SITE);
}

unsigned int __ballot_sync(unsigned int mask, int predicate) {
    return static_cast<unsigned>(simt::collect(CollectiveKind::ballot, mask, predicate != 0 ? 1 : 0, SIMT_SITE).result);
}
int __any_sync(unsigned int mask, int predicate) {
    return static_cast<int>(simt::collect(CollectiveKind::any, mask, predicate != 0 ? 1 : 0, SIMT_SITE).result);
}
int __all_sync(unsigned int mask, int predicate) {
    return static_cast<int>(simt::collect(CollectiveKind::all, mask, predicate != 0 ? 1 : 0, SIMT_SITE).result);
}
unsigned int __activemask() {
    return Scheduler::instance().active_mask(SIMT_SITE);
}

// One host thread runs all CUDA threads, so memory is always in order; fences matter only to the search for races.
void __threadfence_block() {
    simt::hot.site = SIMT_SITE;
    simt::Races::instance().fence(false);
}
void __threadfence() {
    simt::hot.site = SIMT_SITE;
    simt::Races::instance().fence(true);
}
void __threadfence_system() {
    simt::hot.site = SIMT_SITE;
    simt::Races::instance().fence(true);
}

long long clock64() {
    // Threads that wait for time to pass are not stuck.
    simt::hot.counts.other_changes++;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void __nanosleep(unsigned int) {
    if (simt::tracing) {
        simt::trace_wait("__nanosleep", SIMT_SITE);
    }
    Scheduler::instance().yield(SIMT_SITE);
}

void __trap() {
    simt::report(simt::Kind::trap, "", SIMT_SITE, [] { return "__trap() ends the kernel"; });
    Scheduler::instance().abandon(cudaErrorLaunchFailure);
}

void __brkpt() {}

}  // extern "C"
