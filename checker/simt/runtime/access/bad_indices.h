// SPDX-License-Identifier: MIT
//
// Indices beyond an array that code names. The compiler tells the index and the array's type before the access, and not
// whose array it is. If it is a shared one, its access follows and the thread goes on, as after every access out of bounds.
// If it is a local one, nothing follows: to go on would be to write into the thread's own stack, so the launch ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace simt {

struct LaunchObserver;

// Notes an index, which has been reported, of an array of type "float [32][33]". Returns false if no shared array of the
// kernel has such extents, or if the index leads far away from all that have.
bool expect_access(std::int64_t index, std::string_view type);

// Returns true if the access is the one that an index led to: it is reported already. Ends the launch if many
// others came and it did not.
bool is_expected(std::uintptr_t address, std::size_t bytes, bool writes);

extern const LaunchObserver bad_index_observer;

}  // namespace simt
