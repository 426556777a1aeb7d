// SPDX-License-Identifier: MIT
//
// The heap from which kernels allocate with malloc and new, of cudaLimitMallocHeapSize bytes. What is in it lives until
// a kernel frees it.
#pragma once

#include <cstddef>

namespace simt {

std::size_t& heap_size();

// For a CUDA thread. Null if the heap is full.
void* allocate_from_heap(std::size_t bytes, const void* site);
void free_to_heap(void* pointer, const void* site);

}  // namespace simt
