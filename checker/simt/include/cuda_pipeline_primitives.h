// SPDX-License-Identifier: MIT
//
// Asynchronous copies as CUDA's C functions have them (CUDA C++ Programming Guide, "Pipeline Primitives Interface").
#pragma once
#pragma GCC system_header

#include "cuda_runtime.h"
#include "simt/async_copies.h"

// Copies 4, 8 or 16 bytes; the last `zeros` of them are not copied but become 0.
SIMT_INLINE void __pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes, std::size_t zeros = 0) {
    simt::copy_async(shared, global, bytes, bytes - zeros);
}
SIMT_INLINE void __pipeline_commit() {
    simt::commit_copies();
}
SIMT_INLINE void __pipeline_wait_prior(std::size_t newest) {
    simt::wait_for_copies(newest);
}

using __mbarrier_t = unsigned long long;
__attribute__((unavailable("__pipeline_arrive_on is not on the CPU device"))) void __pipeline_arrive_on(__mbarrier_t*);
