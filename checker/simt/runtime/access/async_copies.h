// SPDX-License-Identifier: MIT
//
// Asynchronous copies from global to shared memory (PTX ISA, "cp.async", "cp.async.commit_group" and
// "cp.async.wait_group").
//
// A copy is judged when it is issued. It lands when its own thread waits for its group, which is as late as possible,
// and brings what its source holds then. In between nobody may use its destination or write its source (CUDA C++
// Programming Guide, "Pipeline Primitives Interface"). The bytes of the destination are marked as on their way; a
// write to the source is found when the copy lands. A copy for which its thread never waits never lands, not even at
// the thread's end: no rule says that anybody sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "checker/simt/runtime/access/access.h"
#include "checker/simt/runtime/races/clocks.h"

namespace simt {

struct Block;

struct AsyncCopy {
    std::uintptr_t to, from;
    std::uint32_t bytes, source_bytes;  // zeros follow the source's bytes
    bool judged;
    Space source;          // `none`: it was wrong, or no other thread may write that memory
    std::uint32_t thread;  // in its block
    std::uint64_t group;   // among those of its thread
    std::uint64_t waits;   // how often its thread had waited before issuing it
    Time issued;
    const void* site;
};

// A block's copies that are on their way.
class AsyncCopies {
  public:
    explicit AsyncCopies(const Block& block);

    void issue(AsyncCopy copy);
    void commit(std::uint32_t thread);
    // Lands the copies of a running thread, except for those in its `newest` groups and those in no group.
    void wait(std::uint32_t thread, std::uint64_t newest);

    // The thread's copies land when it arrives at a cuda::barrier; says whether they were to.
    void bind(std::uint32_t thread) { threads_[thread].bound = true; }
    bool unbind(std::uint32_t thread) { return std::exchange(threads_[thread].bound, false); }

    // Whether copies of a thread are on their way.
    bool any_of(std::uint32_t thread) const { return !threads_[thread].copies.empty(); }

    // The copy that is on its way to a byte that is marked so.
    const AsyncCopy& on_its_way_to(std::uintptr_t address) const;
    // Who issued it, and why it has not landed.
    std::string text_of(const AsyncCopy& copy) const;

  private:
    // So many copies of one block may be on their way, if a thread never waits; its copies land then.
    static constexpr std::size_t kMost = std::size_t{1} << 17;

    struct OfThread {
        std::vector<AsyncCopy> copies;  // oldest first
        std::uint64_t groups = 0;       // that are committed
        std::uint64_t groups_at_wait = 0, newest_at_wait = 0, waits = 0;
        bool bound = false;  // to a cuda::barrier, at which they land
    };

    void land(const AsyncCopy& copy);
    void land_first(OfThread& mine, std::size_t count);
    void land_overlapping(const AsyncCopy& copy);

    const Block& block_;
    std::vector<OfThread> threads_;
    std::vector<std::uint16_t> whose_;  // for each byte of shared memory to which a copy is on its way: its thread
    std::size_t count_ = 0;
};

// A thread uses shared memory to which a copy is on its way.
void judge_use_of_copy(std::uintptr_t address, Access access, const void* site,
                       const std::function<std::string()>& what);

}  // namespace simt
