// SPDX-License-Identifier: MIT
//
// What the memory hooks read on every access. It is global because the compiler calls a hook with an address and
// nothing else; everything that is not needed there lives elsewhere.
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace simt {

struct Lane;
struct RacePage;
struct Warp;

// The cells of 4096 bytes of shared memory (races.h), if they were touched by plain accesses to whole words only; null
// otherwise.
struct HotCells {
    std::uint64_t* reads = nullptr;
    std::uint64_t* writes = nullptr;
    std::uint32_t* lanes = nullptr;
    std::uint32_t* since = nullptr;
};
struct HotPages {
    const HotCells* begin = nullptr;
    std::size_t count = 0;
};

// What the search for races (races.h) needs to know about a lane. Times count what orders memory: see clocks.h.
struct HotRaces {
    static constexpr std::size_t kPageBytes = 4096;
    bool on = false;           // SIMT_CHECK=noraces: off
    std::uint32_t thread = 0;  // in its block
    std::uint32_t now = 1;
    std::uint32_t launch = 1;   // what was done up to then happened before every block of this launch
    std::uint32_t slice = 1;    // what is later was done by this block
    std::uint32_t barrier = 1;  // what this block did up to then happened before its last barrier
    std::uint32_t block = 1;    // everything up to then was done by other blocks
    // The lane is ordered with nothing that its block did later than this, except what it did itself; at least `slice`.
    std::uint32_t alone = 1;
    std::uint32_t wrote = 0;  // when the lane last wrote
    bool coarse = false;      // for earlier blocks' accesses only the block is kept
    bool acquired = false;    // it knows more about others than barriers and __syncwarp tell
    // For each thing that a cell of readers may stand for: the bits that tell whether the lane is among the readers
    // already, and their values.
    std::uint64_t bits[4] = {0, ~std::uint64_t{0} << 22, ~std::uint64_t{0} << 27, ~std::uint64_t{0} << 32};
    std::uint64_t mine[4] = {1, 1, 1, 1};  // so the lane is among no readers
    std::uintptr_t first_site = 0;
    // One for each page of the device's range. `words`: the readers, for pages that have only plain accesses to
    // whole words; each reader found that somebody had written what it read. `pages`: made when they are first touched.
    std::uint64_t** words = nullptr;
    RacePage** pages = nullptr;
    // A lane has freed these bytes, or others get them: who has read there does not pass for one that may. Null: nothing is
    // known of readers.
    void (*doubt)(std::uintptr_t begin, std::size_t bytes) = nullptr;
    // The running block's, of the kernel's arrays and of dynamic shared memory; empty while no block is watched, or while
    // the next access settles a suspicion.
    HotPages shared[2];
};

// One counted access of a lane, as the merge of its warp reads it (traffic_trace.h).
struct TraceEntry {
    std::uint64_t where;  // code address << 16 | by which calls
    std::uint64_t what;   // address << 16 | kind << 8 | bytes
};
struct HotTrace {
    TraceEntry* next = nullptr;  // null: nothing is counted, or no lane runs
    TraceEntry* end = nullptr;
    // Makes requests of what a warp's lanes did (TrafficTrace::merge); null: the launch is not counted.
    unsigned (*merge)(const Warp& warp, unsigned more) = nullptr;
    std::uintptr_t main_begin = 0;  // the kernel's own function
    std::size_t main_bytes = 0;
};

// A part of the running block's shared memory; empty while no launch runs.
struct HotShared {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    const std::uint8_t* marks = nullptr;  // one for each byte: 0 if it has been written (shared.h)
    // One for each 16 bytes: not 0 if they are at a multiple of 16 by luck, and nobody has been told.
    const std::uint8_t* accidentally_aligned = nullptr;
};

// Counts the work of CUDA threads. An access adds to one number only: each number that it adds to costs as much as
// its other checks.
struct HotCounts {
    static constexpr std::size_t kSizes = 5;  // 1, 2, 4, 8, 16 bytes
    // Plainly right accesses to global memory, by the logarithm of their bytes.
    std::array<std::uint64_t, kSizes> reads = {}, writes = {};
    std::uint64_t other_accesses = 0;  // without those to the threads' own stacks
    std::uint64_t other_bytes = 0;     // sizes of those in global memory
    std::uint64_t other_changes = 0;   // other writes, and other signs of work

    // Bytes of global memory that kernels have asked for, over all threads' accesses.
    std::uint64_t bytes() const {
        std::uint64_t sum = other_bytes;
        for (std::size_t i = 0; i < kSizes; i++) { sum += (reads[i] + writes[i]) << i; }
        return sum;
    }
    std::uint64_t accesses() const {
        return std::accumulate(reads.begin(), reads.end(), other_accesses) +
               std::accumulate(writes.begin(), writes.end(), std::uint64_t{0});
    }
    // Writes and other signs of work: threads that poll wait for one.
    std::uint64_t changes() const { return std::accumulate(writes.begin(), writes.end(), other_changes); }
};

// Aligned to the processor's cache lines, so that its speed does not depend on what is linked before it.
struct alignas(64) Hot {
    std::uintptr_t device_begin = 0;  // the device's address range; empty where nothing is checked
    // Without what the host may touch where the host may be what touches it, so that its accesses are judged: outside
    // launches, and in them once the host has more than one thread.
    std::size_t device_bytes = 0;
    bool one_host_thread = true;
    std::uint8_t* shadow = nullptr;  // one byte for each byte of the range: 1 if somebody has written there, 0 if not
    bool checking = true;            // SIMT_CHECK=off: only run
    HotCounts counts;
    std::uintptr_t variables_begin = UINTPTR_MAX;  // spans the __device__ and __constant__ variables of all modules
    std::uintptr_t variables_end = 0;
    HotRaces races;
    HotTrace trace;
    void (*judge_expected)() = nullptr;     // bad_indices.h; null: no index is left whose access has not come
    HotShared shared[2];                    // the kernel's arrays, and dynamic shared memory
    std::uintptr_t stack_begin = kNoStack;  // of the lane that is running
    // Return address of the last access or call of the device, but for reads that were plainly right; null: the lane has
    // made none since it was asked last.
    const void* site = nullptr;
    std::uintptr_t atomic = 0;  // address of the last atomic
    Lane* lane = nullptr;       // the CUDA thread that is running; null: host code
    pthread_t launcher = {};    // the host thread that runs it

    static constexpr std::uintptr_t kNoStack = std::uintptr_t{1} << 63;  // far from every address
};

extern constinit Hot hot;

// The CUDA thread that calls; null in host code, also in that of another host thread during a launch.
inline Lane* running_lane() {
    return hot.lane != nullptr && pthread_equal(hot.launcher, pthread_self()) ? hot.lane : nullptr;
}

}  // namespace simt
