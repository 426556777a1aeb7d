// SPDX-License-Identifier: MIT
//
// PTX instructions as functions: one each, named as the PTX ISA names it. Under nvcc they are inline PTX, on the CPU
// device calls of its runtime. A card without the instruction (cp.async needs sm_80) does the same at once, so that a
// file compiles for it too.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>
#ifdef __SIMT__
#include <simt/async_copies.h>
#endif

namespace ptx {

// Whether the card that is compiled for has cp.async. The CPU device has.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool kHasCpAsync = false;
#else
inline constexpr bool kHasCpAsync = true;
#endif

// Where a copy is cached on its way: in all levels, or in L2 only, which is for 16 bytes.
enum class Cache { ca, cg };

// Issues a copy of 4, 8 or 16 bytes from global to shared memory, both aligned to as many. It lands at the thread's
// wait for its group; until then nobody may use the destination or write the source. The bytes behind the first
// `source_bytes` become 0, as the tail of a row does, and are not read.
template <int kBytes, Cache kCache = kBytes == 16 ? Cache::cg : Cache::ca>
__device__ __forceinline__ void cp_async(void* shared, const void* global, int source_bytes = kBytes) {
    static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async copies 4, 8 or 16 bytes");
    static_assert(kCache == Cache::ca || kBytes == 16, "cp.async.cg copies 16 bytes");
#if defined(__SIMT__)
    simt::copy_async(shared, global, kBytes, static_cast<std::size_t>(source_bytes));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const auto to = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
    if constexpr (kCache == Cache::ca) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(kBytes),
                     "r"(source_bytes)
                     : "memory");
    } else {
        asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(kBytes),
                     "r"(source_bytes)
                     : "memory");
    }
#else
    using Whole = std::conditional_t<kBytes == 16, uint4, std::conditional_t<kBytes == 8, uint2, unsigned int> >;
    if (source_bytes == kBytes) {
        *static_cast<Whole*>(shared) = *static_cast<const Whole*>(global);
    } else {
        for (int i = 0; i < kBytes; i++) {
            static_cast<char*>(shared)[i] = i < source_bytes ? static_cast<const char*>(global)[i] : '\0';
        }
    }
#endif
}

// The thread's copies since its last group are a group; where there are none, an empty one, which counts like any.
__device__ __forceinline__ void cp_async_commit() {
#if defined(__SIMT__)
    simt::commit_copies();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until only the thread's newest kGroups groups may be on their way. What has landed is there for this thread;
// for the others it takes a barrier.
template <int kGroups>
__device__ __forceinline__ void cp_async_wait() {
    static_assert(kGroups >= 0, "a number of groups");
#if defined(__SIMT__)
    simt::wait_for_copies(kGroups);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

// Waits for all of the thread's copies, those in no group too.
__device__ __forceinline__ void cp_async_wait_all() {
#if defined(__SIMT__)
    simt::wait_for_all_copies();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace ptx
