// SPDX-License-Identifier: MIT
//
// Whether a thread may touch an address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

// `copy`: read by an asynchronous copy. Bytes that nobody has written may be copied; who reads the copy is told.
enum class Access { read, write, atomic, copy };

// Where an access of a thread goes that another thread may see. `none`: to its own stack, to a constant, wrong, the host's.
enum class Space { none, global, shared };

// Judges an access that is not plainly right: reports what is wrong, ends the launch where the device would, notes what
// is written from now on. `alignment` is what the access needs, a power of two. Gives where races are to be looked for.
// `strong`: volatile or atomic.
Space judge_access(std::uintptr_t address, std::size_t bytes, Access access, std::size_t alignment, const void* site,
                   bool strong = false);

// A span of run-time size, as memcpy has it; races in it too.
void judge_span(const void* address, std::size_t bytes, Access access, const void* site);

// The two ends of an asynchronous copy, when it is issued, but for races and for other copies that are on their way. The
// launch ends where one is no global memory, the other no shared memory, or one is not aligned. False: out of bounds.
Space judge_copy_source(std::uintptr_t address, std::size_t bytes, std::size_t alignment, const void* site);
bool judge_copy_destination(std::uintptr_t address, std::size_t bytes, const void* site);
// Whether a copy that may go anywhere is one that can be asynchronous.
bool goes_from_global_to_shared(std::uintptr_t to, std::uintptr_t from);

}  // namespace simt
