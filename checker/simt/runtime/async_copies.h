// SPDX-License-Identifier: MIT
//
// Asynchronous copies from global to shared memory (PTX ISA, "cp.async", "cp.async.commit_group" and
// "cp.async.wait_group").
//
// A copy is judged when it is issued, and lands when its own thread waits for its group: as late as it may, and with
// what its source holds then. In between nobody may use its destination or write its source (CUDA C++ Programming
// Guide, "Pipeline Primitives Interface"). The bytes of the destination are marked as on their way; a write of the
// source is found when the copy lands. A copy that its thread never waits for never lands, not even at the thread's
// end: no rule says that anybody sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checker/simt/runtime/access.h"
#include "checker/simt/runtime/clocks.h"

namespace simt {

struct Block;

struct AsyncCopy {
    std::uintptr_t to, from;
    std::uint32_t bytes, source_bytes;  // behind the source's bytes there are zeros
    bool judged;
    Space source;          // `none`: it was wrong, or it is no memory that another thread may write
    std::uint32_t thread;  // in its block
    std::uint64_t group;   // of its thread's
    std::uint64_t waits;   // of its thread before it was issued
    Time issued;
    const void* site;
};

// Those of one block that are on their way.
class AsyncCopies {
  public:
    explicit AsyncCopies(const Block& block);

    void issue(AsyncCopy copy);
    void commit(std::uint32_t thread);
    // Lands the copies of a thread that is running, but for those of its `newest` groups and those in none.
    void wait(std::uint32_t thread, std::uint64_t newest);

    // The one that is on its way to a byte, which is so marked.
    const AsyncCopy& on_its_way_to(std::uintptr_t address) const;
    // Who issued it, and why it has not landed.
    std::string text_of(const AsyncCopy& copy) const;

  private:
    // A thread that never waits comes to have so many, in all of a block; its copies land then.
    static constexpr std::size_t kMost = std::size_t{1} << 17;

    struct OfThread {
        std::vector<AsyncCopy> copies;  // oldest first
        std::uint64_t groups = 0;       // that are committed
        std::uint64_t groups_at_wait = 0, newest_at_wait = 0, waits = 0;
    };

    void land(const AsyncCopy& copy);
    void land_first(OfThread& mine, std::size_t count);
    void land_those_met_by(const AsyncCopy& copy);

    const Block& block_;
    std::vector<OfThread> threads_;
    std::vector<std::uint16_t> whose_;  // of each byte of shared memory that one is on its way to: its thread
    std::size_t count_ = 0;
};

// A thread uses shared memory that a copy is on its way to.
void judge_use_of_copy(std::uintptr_t address, Access access, const void* site,
                       const std::function<std::string()>& what);

}  // namespace simt
