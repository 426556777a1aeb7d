// SPDX-License-Identifier: MIT
//
// Whether a thread may touch an address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

enum class Access { read, write, atomic };

// Where an access of a thread goes that another thread may see. `none`: to its own stack, to a constant, wrong, the host's.
enum class Space { none, global, shared };

// Judges an access that is not plainly right: reports what is wrong, ends the launch where the device would, notes what
// is written from now on. `alignment` is what the access needs. Gives where races are to be looked for.
// `strong`: volatile or atomic.
Space judge_access(std::uintptr_t address, std::size_t bytes, Access access, std::size_t alignment, const void* site,
                   bool strong = false);

// A span of run-time size, as memcpy has it; races in it too.
void judge_span(const void* address, std::size_t bytes, Access access, const void* site);

}  // namespace simt
