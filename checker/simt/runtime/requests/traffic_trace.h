// SPDX-License-Identifier: MIT
//
// Records the accesses of a warp's lanes one after another as the lanes run, and makes the warp's requests of them: at
// each step the lanes whose next access has the lowest code address make one request together. A lane that is behind
// in a loop has the lower address and catches up; lanes that have left the loop wait after it. If lanes jump back
// while another one is at an access to which nobody else comes, or at special functions after which it jumps back to
// the same place, that lane goes first, so that they stay together. A collective is a place that the lanes of its mask
// pass together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checker/simt/runtime/base/access_kind.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/requests/traffic_requests.h"
#include "checker/simt/runtime/requests/traffic_runs.h"

namespace simt {

struct Block;
struct Launch;
struct Lane;
struct Warp;

struct LaunchTrace {
    std::vector<std::unique_ptr<TrafficSite>> sites;
    std::vector<DistinctSectors> distinct;
    std::uint64_t idle_blocks = 0;  // blocks that have used no global memory
};

class TrafficTrace {
  public:
    static TrafficTrace& instance();

    // Returns true if the launch is counted.
    bool begin_launch(const Launch& launch);
    // Returns what the launch did, and forgets it.
    LaunchTrace end_launch();
    ByteSet::Pool& pool() { return pool_; }

    // Called before and after each turn of a lane. The lanes of one warp run until none of them can go on: then their
    // accesses are merged.
    void begin_lane(const Lane& lane);
    void end_lane(const Lane& lane);

    // All lanes of the block have ended.
    void end_block(const Block& block);

    // Makes requests of what the lanes did, until nothing is left, or until nothing is left of a lane from which more
    // is to come (a bit of `more`). Returns the lanes of `more` that have room again.
    unsigned merge(const Warp& warp, unsigned more);

    // The number of the chain of calls by which the running lane has come here: 0 in the kernel's own function, into
    // which nearly everything is inlined.
    std::uint16_t path_to(std::uintptr_t site);

  private:
    static constexpr std::size_t kLanes = 32;
    static constexpr std::size_t kEntries = 256;  // entries of a lane, before it waits for the others
    // One cache line apart, so that what the lanes did at one step is not all in one set of the cache.
    struct Entries {
        std::array<TraceEntry, kEntries> entries;
        std::array<TraceEntry, 4> apart;
    };
    static constexpr std::size_t kNear = 256;
    static constexpr std::uint16_t kLostPath = 0xffff;

    using Path = std::vector<std::uintptr_t>;  // return addresses from the kernel's function inwards

    std::uintptr_t address_with_line(std::uint64_t where) const;
    TrafficSite& site_of(std::uint64_t where, std::uint64_t what);
    bool before(std::uint64_t a, std::uint64_t b) const;
    bool comes_to(unsigned lane, std::uint64_t where) const;
    bool evaluates_before(unsigned lane, std::uint64_t where) const;
    unsigned choose(unsigned active, unsigned more) const;
    void count(std::uint64_t where, const std::uint64_t* what, const std::uint8_t* lanes, unsigned count,
               unsigned mask);
    void finish_warp(const Warp& warp);
    std::uint64_t number_of(const Block& block) const;

    const Launch* launch_ = nullptr;
    std::unique_ptr<std::array<Entries, kLanes>> entries_;
    std::array<TraceEntry*, kLanes> begin_{}, end_{};  // what is left of each lane's entries
    std::array<std::uint64_t, kLanes> last_{};         // where each lane was before that

    ByteSet::Pool pool_;
    std::vector<std::unique_ptr<TrafficSite>> sites_;
    std::unordered_map<std::uint64_t, TrafficSite*> by_place_;  // site << 16 | kind
    struct Near {
        std::uint64_t where = 0;
        TrafficSite* site = nullptr;
    };
    std::array<Near, kNear> near_{};

    std::vector<Path> paths_;
    std::map<Path, std::uint16_t> path_numbers_;

    BlockRuns runs_;
    const Warp* warp_ = nullptr;                         // the one that was merged last
    TouchedSectors* block_ = nullptr;                    // of its block
    std::unordered_map<const Warp*, unsigned> copying_;  // the lanes that have asynchronous copies on their way

    // Tells whether a warp's lanes passed a site equally often: each lane adds a number of its own, and the numbers of
    // a warp's lanes add up to 0. Kept for warps that have not ended.
    unsigned present_ = 0;
    std::array<std::uint64_t, kLanes> weights_{};
    std::vector<TrafficSite*> uneven_;
    std::unordered_map<const Warp*, std::vector<std::pair<TrafficSite*, std::uint64_t>>> unfinished_;
};

// For the hooks: notes an access of the running lane, or a barrier or collective to which it comes. The lane waits
// here if it has no room for more.
[[gnu::noinline]] void wait_for_trace(const void* site);

[[gnu::always_inline]] inline void note_in_trace(std::uint64_t what, const void* return_address) {
    const auto site = reinterpret_cast<std::uintptr_t>(return_address);
    const std::uint64_t path =
        site - hot.trace.main_begin < hot.trace.main_bytes ? 0 : TrafficTrace::instance().path_to(site);
    *hot.trace.next++ = {static_cast<std::uint64_t>(site) << 16 | path, what};
    if (hot.trace.next == hot.trace.end) [[unlikely]] {
        wait_for_trace(return_address);
    }
}

constexpr TraceKind trace_kind(Access access, Space space) {
    const bool shared = space == Space::shared;
    switch (access) {
        case Access::read:
            return shared ? TraceKind::shared_load : TraceKind::load;
        case Access::write:
            return shared ? TraceKind::shared_store : TraceKind::store;
        case Access::copy:  // an asynchronous one has two ends
            return shared ? TraceKind::shared_copy : TraceKind::load;
        case Access::atomic:
            break;
    }
    return shared ? TraceKind::shared_atomic : TraceKind::atomic;
}

// A span whose size is known at run time, in the pieces in which a thread moves it: at most 16 bytes each, as the
// address allows.
void note_span_in_trace(std::uintptr_t address, std::size_t bytes, TraceKind kind, const void* site);

}  // namespace simt
