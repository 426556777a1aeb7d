// SPDX-License-Identifier: MIT
//
// PTX instructions as functions: one each, named as the PTX ISA names it. Under nvcc they are inline PTX, on the CPU
// device calls of its runtime. A card without the instruction (cp.async needs sm_80) does the same at once, so that a
// file compiles for it too.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>
#ifdef __SIMT__
#include <simt/async_copies.h>
#include <simt/tensor.h>
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

// ---- tensor cores ----------------------------------------------------------------------------------------------------
//
// A warp multiplies one small tile: D = A B + C. Each lane holds some elements of each matrix, a fragment. With
// g = lane / 4 and q = lane % 4, element i of a fragment is (PTX ISA, "Matrix Fragments for mma.m16n8k8" and others):
//
//   Tf32A         A[g + 8 (i % 2)][q + 4 (i / 2)]       Tf32B         B[q + 4 i][g]
//   Accumulators  C[g + 8 (i / 2)][2 q + i % 2]
//
// All 32 lanes call the function together.

// Traps on a card that the instruction does not exist on: no loop of one lane does what a warp does here.
__device__ __forceinline__ void no_tensor_core() {
#ifdef __CUDA_ARCH__
    __trap();
#endif
}

struct Accumulators {
    float x[4];
};  // m16n8

struct Tf32A {
    std::uint32_t x[4];
};  // m16k8
struct Tf32B {
    std::uint32_t x[2];
};  // k8n8

// cvt.rna.tf32.f32: a float rounded to the 10 bits of fraction that TF32 has, ties away from zero. Without it mma cuts
// off the other 13 bits, which doubles the error and gives it one sign.
__device__ __forceinline__ std::uint32_t to_tf32(float x) {
#if defined(__SIMT__)
    return simt::to_tf32(x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
#else
    return isfinite(x) ? (__float_as_uint(x) + 0x1000U) & 0xffffe000U : __float_as_uint(x);
#endif
}

// mma.sync.m16n8k8, TF32: d += a b. The larger of the two TF32 shapes: half the instructions for the same product.
__device__ __forceinline__ void mma_m16n8k8(Accumulators& d, const Tf32A& a, const Tf32B& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k8_tf32, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
        : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
#else
    no_tensor_core();
#endif
}

}  // namespace ptx
