// SPDX-License-Identifier: MIT
//
// Whether a thread may touch an address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checker/simt/runtime/base/access_kind.h"

namespace simt {

// Judges an access that is not plainly right: reports what is wrong, ends the launch if the device would, and notes
// what is written from now on. `alignment` is what the access needs, a power of two. Returns the space in which to
// look for races. `strong`: volatile or atomic.
Space judge_access(std::uintptr_t address, std::size_t bytes, Access access, std::size_t alignment, const void* site,
                   bool strong = false);

// A span whose size is known at run time, as memcpy's is; races in it are looked for too.
void judge_span(const void* address, std::size_t bytes, Access access, const void* site, std::size_t alignment = 1);
// What an access of so many bytes needs, of which the compiler knows that its address is no multiple of them. It may be
// a struct of smaller members, so it is the alignment of what is declared there.
std::size_t alignment_there(std::uintptr_t address, std::size_t bytes);

// Whether nobody has written some of the bytes, which count as written from now on; and the finding for a thread that
// uses what was there.
bool take_unwritten(std::uintptr_t address, std::size_t bytes);
void report_unwritten(std::uintptr_t address, std::size_t bytes, const void* site);

// Judges the two ends of an asynchronous copy when it is issued, except for races and for other copies that are on
// their way. The launch ends if the source is not in global memory, the destination is not in shared memory, or one of
// them is not aligned. False: out of bounds.
Space judge_copy_source(std::uintptr_t address, std::size_t bytes, std::size_t alignment, const void* site);
bool judge_copy_destination(std::uintptr_t address, std::size_t bytes, const void* site);
// Judges the running lane's row of ldmatrix, 16 bytes of shared memory, and looks for races with it. The launch ends if
// it is not aligned, or lies in no shared memory. Returns false if it is out of bounds.
bool judge_matrix_row(std::uintptr_t address, const void* site);
// Whether a copy that may go anywhere is one that can be asynchronous.
bool goes_from_global_to_shared(std::uintptr_t to, std::uintptr_t from);

}  // namespace simt
