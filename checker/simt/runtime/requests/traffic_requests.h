// SPDX-License-Identifier: MIT
//
// What one request of a warp costs, and the sums of these costs for each place in the code. See COUNTERS.md for the
// rules.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checker/simt/runtime/requests/traffic_counts.h"

namespace simt {

struct TouchedSectors;

enum class TraceKind : std::uint8_t {
    load,
    store,
    atomic,
    shared_load,
    shared_store,
    shared_copy,  // an asynchronous one's end, where it is issued
    shared_atomic,
    barrier,
    collective,  // all but shuffles
    shuffle,     // its mask for an address, shuffles of 4 bytes for bytes
    landed,      // a wait after which none of the lane's copies is on its way
    arithmetic,  // a block with floating-point instructions (arithmetic.h)
    special,     // a special function: its precision for an address, evaluations for bytes (special_functions.cpp)
    mma,         // its mask for an address, its MmaShape for bytes, and kTwoInstructions
    truncated,   // elements of a lane's A and B that an mma truncates to TF32, for an address
    matrix_row,  // a row of ldmatrix, 16 bytes
};

// Each product of WMMA is two mma.sync.
inline constexpr unsigned kTwoInstructions = 0x80;

// A place that the lanes of a mask, which stands for an address, pass together.
constexpr bool is_meeting(TraceKind kind) {
    return kind == TraceKind::collective || kind == TraceKind::shuffle || kind == TraceKind::mma;
}
constexpr bool is_global(TraceKind kind) {
    return kind <= TraceKind::atomic;
}
constexpr bool is_access(TraceKind kind) {
    return kind <= TraceKind::shared_atomic;
}
// What is a place in the code, but nothing that is counted there.
constexpr bool is_mark(TraceKind kind) {
    return kind == TraceKind::collective || kind == TraceKind::landed;
}

// A place at which a lane computes, and need not wait for others.
constexpr bool is_evaluation(TraceKind kind) {
    return kind == TraceKind::special || kind == TraceKind::arithmetic;
}

// Which bytes were touched: a bit for each byte, 32 KiB of addresses at a time.
class ByteSet {
  public:
    static constexpr std::size_t kWords = 1024;  // a word is a sector
    using Chunk = std::array<std::uint32_t, kWords>;

    // The chunks of all sets: they are used again, and their number is limited.
    struct Pool {
        static constexpr std::size_t kMost = (std::size_t{256} << 20) / sizeof(Chunk);
        std::vector<std::unique_ptr<Chunk>> free;
        std::size_t taken = 0;
    };

    explicit ByteSet(Pool& pool) : pool_(&pool) {}
    ~ByteSet();
    ByteSet(const ByteSet&) = delete;
    ByteSet& operator=(const ByteSet&) = delete;

    void add(std::uint64_t sector, std::uint32_t bytes) {
        const std::uint64_t number = sector / kWords;
        Near& near = near_[number % kNear];
        if (near.number != number || near.chunk == nullptr) {
            near = {number, chunk(number)};
        }
        if (near.chunk != nullptr) [[likely]] {
            (*near.chunk)[sector % kWords] |= bytes;
        }
    }
    void add(const ByteSet& other);
    std::uint64_t count() const;
    bool incomplete() const { return incomplete_; }

  private:
    static constexpr std::size_t kNear = 64;
    struct Near {
        std::uint64_t number = 0;
        Chunk* chunk = nullptr;
    };

    Chunk* chunk(std::uint64_t number);  // null if there are no more

    Pool* pool_;
    std::array<Near, kNear> near_{};
    std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>> chunks_;
    bool incomplete_ = false;
};

// What the 32 banks must give for a request, and which it was.
struct BankPasses {
    unsigned wavefronts = 0, passes = 0;
    unsigned distinct_bytes = 0;                         // each byte once; of global memory once a pass
    unsigned wavefronts_of_8 = 0, wavefronts_of_16 = 0;  // of shared memory, were each lane's access so wide
    unsigned count = 0;                                  // of the lanes
    std::array<std::uint64_t, 32> what{};
    std::array<std::uint8_t, 32> lanes{};
};

// One access in the code, during one launch.
struct TrafficSite {
    TrafficSite(std::uintptr_t return_address, TraceKind what, ByteSet::Pool& pool)
        : site(return_address), kind(what), bytes(pool) {}

    std::uintptr_t site;
    TraceKind kind;
    Traffic traffic;
    ByteSet bytes;
    BankPasses passes;     // of its last request
    bool ignored = false;  // the compiler's own

    // Of a block of arithmetic: the call that notes it, and how often warps and threads executed it.
    std::uintptr_t block = 0;
    std::uint64_t requests = 0, threads = 0;

    // For the warp that is being counted: 0 again once all of its lanes have passed it equally often.
    std::uint64_t uneven = 0;
    bool uneven_noted = false;

    // The beginnings of the buffers that were used, and the last one, so that most requests need not search.
    std::uintptr_t buffer_begin = 0;
    std::size_t buffer_bytes = 0;
    std::array<std::uintptr_t, 4> buffers{};
    std::size_t buffer_count = 0;
};

// A request: the lanes of a warp that make one access together. Each of `what` is address << 16 | kind << 8 | bytes.
struct TrafficRequest {
    const std::uint64_t* what;
    const std::uint8_t* lanes;  // in the warp, ascending
    unsigned count;             // of the lanes
};

constexpr std::uint64_t packed(std::uintptr_t address, TraceKind kind, std::size_t bytes) {
    return static_cast<std::uint64_t>(address) << 16 | static_cast<std::uint64_t>(kind) << 8 | bytes;
}
constexpr std::uintptr_t address_of(std::uint64_t what) {
    return what >> 16;
}
constexpr TraceKind kind_of(std::uint64_t what) {
    return static_cast<TraceKind>(what >> 8 & 0xffU);
}
constexpr unsigned bytes_of(std::uint64_t what) {
    return what & 0xffU;
}

// Counts it, and notes what it touches for its block.
void count_request(TrafficSite& site, const TrafficRequest& request, TouchedSectors& block);

}  // namespace simt
