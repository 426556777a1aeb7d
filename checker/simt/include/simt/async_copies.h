// SPDX-License-Identifier: MIT
//
// Asynchronous copies from global to shared memory: what checker/ptx.h and the toolkit's headers call of the runtime.
#pragma once
#pragma GCC system_header

#include <cstddef>

#include "judged.h"

namespace simt {

// Issues a copy of 4, 8 or 16 bytes, of which those behind the first `source_bytes` become 0.
void copy_async(void* shared, const void* global, std::size_t bytes, std::size_t source_bytes,
                bool judged = SIMT_JUDGED);
// Issues a part of a copy of any length: chunk `rank`, and each `parts`th one behind it. Chunks are as large as the
// alignment, which is all that is known of both addresses: of less than 4 it is looked up. What does not go from global
// to shared memory is copied at once.
void copy_async_part(void* to, const void* from, std::size_t bytes, std::size_t alignment, unsigned int rank,
                     unsigned int parts, bool judged = SIMT_JUDGED);
// The calling thread's copies since its last group are its next group, even where there are none.
void commit_copies();
// Until of the calling thread's groups at most so many, its newest, are on their way.
void wait_for_copies(std::size_t newest);
void wait_for_all_copies();

}  // namespace simt
