// SPDX-License-Identifier: MIT
//
// The buffers of a call in the file in memory that the worker and its parent share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checker/cases/lesson.h"
#include "checker/worker/shared_buffers.h"

namespace checker {

inline constexpr std::uint64_t kCaseSeed = 0;  // of a case's inputs, where they are drawn

// The buffers of a call that lie in the file: inputs, then outputs and in-out tensors, or for a sampled call one of
// SampledElements.
std::vector<BufferSpec> shared_specs(const Call& call);
std::size_t bytes_of(const Call& call);  // of these buffers
std::size_t bytes_of(const Case& c);     // of all its calls

// What a buffer holds before its call.
enum class Before {
    values,  // those of the case
    poison,
    left,  // in a sequence: what an earlier call left there
};
Before before(const Call& call, std::size_t buffer);  // counted through shared_specs

// Returns the places of the buffers of one of a case's calls, as shared_specs lists them. In a sequence those of one name and
// size lie at one place, but for those of the host, of which each call has its own. Throws std::logic_error if they differ in
// element, or if what earlier calls left has another size.
std::vector<BufferSlot> slots_of(const Case& c, std::size_t call, Schedule schedule);

// Puts there what a call's buffers hold before it.
void initialise(MemoryFile& memory, const Call& call, std::span<const BufferSlot> slots, Schedule schedule);

// One of a case's calls, as the worker runs it.
struct CallRun {
    const Case& of;
    std::size_t index = 0;
    const Library& library;
    Schedule schedule = Schedule::end_aligned;
    bool counts = false;  // what the call takes, in place of a search for races
    bool on_one_thread = false;

    const Call& call() const { return of.calls.at(index); }
    std::vector<BufferSlot> slots() const { return slots_of(of, index, schedule); }
    const RunFunction& function() const { return on_one_thread ? call().run_on_one_thread : call().run; }
    // Whether it is the first, and the last, of those that share buffers.
    bool begins() const { return !of.sequence || index == 0; }
    bool ends() const { return !of.sequence || index + 1 == of.calls.size(); }
};

// Elements of an output that lies on the device alone: some of those that sampled blocks wrote, or some of all.
struct SampledElements {
    static constexpr std::size_t kMost = 65'536;
    std::uint64_t blocks = 1, blocks_run = 1;  // of the launch of which the smallest share of the blocks was run
    std::uint64_t blocks_cut = 0;              // blocks to run, in all launches, that did not come to their end
    std::uint64_t all_written = 0;             // by these
    std::uint64_t count = 0;
    struct {
        std::int64_t element = 0;
        float value = 0;
    } written[kMost];
};

// What an implementation asks for as scratch. Throws where that is more than the check gives, 4 GiB: a size that was
// computed wrongly tends to be enormous. `any`: memory that costs nothing until it is touched.
std::size_t scratch_bytes(const Scratch& scratch, const Library& library, bool any = false);

}  // namespace checker
