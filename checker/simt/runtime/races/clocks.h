// SPDX-License-Identifier: MIT
//
// What happened before what, within one launch.
//
// Time is one count for the whole device. It advances whenever something orders memory: a barrier, __syncwarp, a
// fence, the turn of another block. An access has the time at which it was made, and a thread knows up to which time
// another thread's accesses happened before its own:
//   threads of its block   up to the block's last barrier
//   lanes of its warp      up to the last __syncwarp that both were in
//   others                 as far as it acquired what they released through an atomic or a volatile
// A release is a fence followed by a strong write; an acquire is a strong read followed by a fence (PTX ISA, Memory
// Consistency Model, "Release and Acquire Patterns"). In two places practice is wider than the model, and we follow
// practice:
//   - a barrier stands for the fence of an acquire: NVIDIA's own last-block examples have no other
//   - other threads' writes are released too where each fenced its own before the barrier that orders them
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace simt {

using Time = std::uint32_t;

struct ReleaseLog;

// The first `count` releases of a log, as one acquire saw them.
struct Acquired {
    ReleaseLog* log;
    std::uint32_t count;
    bool beyond_block;  // acquired with a fence that is wider than the block's
};

// What a thread knows about its own block at a fence.
struct Fence {
    Time own = 0;
    Time barrier = 0;
    std::array<Time, 32> warp{};
    std::vector<Acquired> acquired;
};

struct Release {
    std::uint64_t block;
    std::uint32_t thread;
    bool block_scope;                               // by an atomic of that scope
    Time at;                                        // when the variable itself was written
    std::shared_ptr<const Fence> in_block, beyond;  // made by the narrowest fence that suffices; null: none
};

// The releases that a reader of one variable sees. A store begins a new log; atomics that read and write add to it.
struct ReleaseLog {
    std::uintptr_t variable = 0;    // its address
    std::vector<Release> releases;  // each later than those before it
    std::size_t most = 4096;        // then another log goes on, and who has acquired this one keeps it
    std::uint64_t query = 0;        // the search that was here last,
    std::uint32_t looked_at = 0;    // and how many it has seen

    // Begins with the newest release of each thread, which contains its older ones.
    void go_on_from(const ReleaseLog& longer);
};

struct LaneClock {
    std::shared_ptr<const Fence> in_block, beyond;
    std::vector<Acquired> acquired;
    std::vector<Acquired> pending;  // seen, and no fence since
};

struct WarpClock {
    Time all = 0;                               // the last __syncwarp of all its lanes
    bool partly = false;                        // rows are in use
    std::array<std::array<Time, 32>, 32> rows;  // [lane][other]
};

class BlockClock {
  public:
    void begin(std::uint64_t number, unsigned threads, Time now);

    // What lane `thread` knows about another lane of its warp.
    Time known(unsigned thread, unsigned other) const;
    // The least and the most that it knows of any other lane of its warp.
    Time most_known_of_warp(unsigned thread) const {
        const WarpClock& warp = warps_[thread / 32];
        return warp.partly ? UINT32_MAX : barrier > warp.all ? barrier : warp.all;
    }
    Time known_of_warp(unsigned thread) const;
    bool knows_some_of_warp(unsigned thread, Time time) const;

    LaneClock& lane(unsigned thread);
    const LaneClock* lane_if_any(unsigned thread) const;

    void pass_barrier(Time now);
    void sync_lanes(unsigned warp, unsigned mask, unsigned whole, Time now);
    void fence(unsigned thread, bool beyond_block, Time now);
    void see(unsigned thread, ReleaseLog* log, bool at_once);
    // What a strong write by the thread releases; nothing if both fences are null.
    Release release(unsigned thread, bool block_scope, Time now);
    bool acquired_anything(unsigned thread) const {
        return !acquired_.empty() || (!lanes_.empty() && !lanes_[thread].acquired.empty());
    }

    std::uint64_t number = 0;
    Time began = 0;
    Time barrier = 0;
    std::vector<Time> wrote;  // by thread: its last write

    const std::vector<Acquired>& acquired_by_all() const { return acquired_; }

  private:
    void activate(LaneClock& lane, bool beyond_block);
    std::shared_ptr<const Fence> widened(const std::shared_ptr<const Fence>& fence, unsigned thread,
                                         const std::vector<Time>& fenced, Time clean) const;

    std::vector<Time> fenced_in_block_, fenced_beyond_;
    Time clean_in_block_ = 0, clean_beyond_ = 0;  // the last barrier before which all writes were fenced
    bool any_fence_ = false;
    std::vector<LaneClock> lanes_;  // empty until one of them fences or acquires
    std::vector<WarpClock> warps_;
    std::vector<Acquired> acquired_;  // by all of the block
};

// Whose accesses the question is about. `whole`: not those of one thread, but those of some of the block's threads.
struct Whose {
    std::uint64_t block;
    std::uint32_t thread;
    bool whole;
    // For strong writes, otherwise 0: they are released too if they are the releases themselves.
    std::uintptr_t variable = 0;
};

// Whether what was acquired tells that the accesses up to `time` happened before. A search that takes too long answers
// yes.
bool acquired_covers(const std::vector<Acquired>& acquired, std::uint64_t own_block, const Whose& whose, Time time);

// Adds what one acquire saw to what earlier ones did.
void add(std::vector<Acquired>& acquired, const Acquired& more);

}  // namespace simt
