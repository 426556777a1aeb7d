// SPDX-License-Identifier: MIT
//
// Asynchronous copies from global to shared memory: the runtime's functions that checker/ptx.h and the toolkit's
// headers call.
#pragma once
#pragma GCC system_header

#include <cstddef>

#include "judged.h"

namespace simt {

// Issues a copy of 4, 8 or 16 bytes; those after the first `source_bytes` become 0.
void copy_async(void* shared, const void* global, std::size_t bytes, std::size_t source_bytes,
                bool judged = SIMT_JUDGED);
// Issues a part of a copy of any length: chunk `rank`, and every `parts`th one after it. A chunk is as large as the
// alignment, which is all that is known about both addresses; if that is less than 4, the addresses are looked at.
// What does not go from global to shared memory is copied at once.
void copy_async_part(void* to, const void* from, std::size_t bytes, std::size_t alignment, unsigned int rank,
                     unsigned int parts, bool judged = SIMT_JUDGED);
// The calling thread's copies since its last group become its next group, even if there are none.
void commit_copies();
// Waits until at most so many of the calling thread's groups, the newest ones, are on their way.
void wait_for_copies(std::size_t newest);
void wait_for_all_copies();
// The calling thread's copies belong to a cuda::barrier: they land when the thread arrives there.
void bind_copies();
void land_bound_copies();

}  // namespace simt
