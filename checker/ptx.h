// SPDX-License-Identifier: MIT
//
// PTX instructions as functions: one each, named as the PTX ISA names it. Under nvcc they are inline PTX, on the CPU
// device calls of its runtime. A card without the instruction (cp.async needs sm_80) does the same at once, or traps
// (tensor cores), so that a file compiles for it too.
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
// A warp multiplies one small tile: D = A B + C. Each lane holds some elements of each matrix, a fragment. A register has
// one element of TF32, or two of 16 bits that are neighbours in k, the first in its low half. With g = lane / 4 and
// q = lane % 4, register i of a fragment has (PTX ISA, "Matrix Fragments for mma.m16n8k8" and others)
//
//   TF32     A[g + 8 (i % 2)][q + 4 (i / 2)]             B[q + 4 i][g]
//   16 bits  A[g + 8 (i % 2)][2 q + 8 (i / 2)] and next  B[2 q + 8 i][g] and next
//   floats   C[g + 8 (i / 2)][2 q + i % 2]
//   halves   C[g + 8 i][2 q] and next
//
// All 32 lanes call a function together.

struct Accumulators {
    float x[4];
};  // m16n8
struct HalfAccumulators {
    std::uint32_t x[2];
};  // m16n8

struct Tf32A {
    std::uint32_t x[4];
};  // m16k8
struct Tf32B {
    std::uint32_t x[2];
};  // k8n8
struct Tf32A4 {
    std::uint32_t x[2];
};  // m16k4
struct Tf32B4 {
    std::uint32_t x[1];
};  // k4n8

struct Bf16A {
    std::uint32_t x[4];
};  // m16k16
struct Bf16B {
    std::uint32_t x[2];
};  // k16n8
struct Bf16A8 {
    std::uint32_t x[2];
};  // m16k8
struct Bf16B8 {
    std::uint32_t x[1];
};  // k8n8

struct HalfA {
    std::uint32_t x[4];
};  // m16k16
struct HalfB {
    std::uint32_t x[2];
};  // k16n8
struct HalfA8 {
    std::uint32_t x[2];
};  // m16k8
struct HalfB8 {
    std::uint32_t x[1];
};  // k8n8

// Traps on a card that lacks the instruction: no loop of one lane does what a warp does here.
__device__ __forceinline__ void no_tensor_core() {
#ifdef __CUDA_ARCH__
    __trap();
#endif
}

// cvt.rna.tf32.f32: a float rounded to the 10 bits of fraction that TF32 has, ties away from zero. Without it mma cuts
// off the other 13 bits: a factor is wrong by at most twice as much, and each product is too small in magnitude, so that
// the errors of a sum cancel less.
__device__ __forceinline__ std::uint32_t to_tf32(float x) {
#if defined(__SIMT__)
    return simt::ptx::cvt_rna_tf32_f32(x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
#else
    return isfinite(x) ? (__float_as_uint(x) + 0x1000U) & 0xffffe000U : __float_as_uint(x);
#endif
}

// cvt.rn.bf16x2.f32: two floats rounded to bf16, `low` into the low half, as a fragment has neighbours in k. One
// instruction; two conversions of one float each take a third to join them.
__device__ __forceinline__ std::uint32_t to_bf16x2(float low, float high) {
#if defined(__SIMT__)
    return simt::ptx::cvt_rn_bf16x2_f32(high, low);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
#else
    const auto rounded = [](float x) {
        const std::uint32_t bits = __float_as_uint(x);
        return isnan(x) ? 0x7fffU : (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
    };
    return rounded(low) | rounded(high) << 16;
#endif
}

// ex2.approx.ftz.f32: 2 to the power x, in one instruction; subnormal numbers are taken and given as 0. exp2f adds
// instructions for those.
__device__ __forceinline__ float exp2_approx(float x) {
#if defined(__SIMT__)
    return simt::ptx::ex2_approx_ftz_f32(x);
#elif defined(__CUDA_ARCH__)
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp2f(x);
#endif
}

// mma.sync.m16n8k8, TF32: d += a b. The larger of the two shapes of TF32: half the instructions for the same product.
__device__ __forceinline__ void mma_m16n8k8(Accumulators& d, const Tf32A& a, const Tf32B& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k8_tf32, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
        : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
#else
    no_tensor_core();
#endif
}

// mma.sync.m16n8k4, TF32: where only 4 of k are left.
__device__ __forceinline__ void mma_m16n8k4(Accumulators& d, const Tf32A4& a, const Tf32B4& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k4_tf32, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
        : "r"(a.x[0]), "r"(a.x[1]), "r"(b.x[0]));
#else
    no_tensor_core();
#endif
}

// mma.sync.m16n8k16, bf16: the range of a float, and twice the rate of TF32.
__device__ __forceinline__ void mma_m16n8k16(Accumulators& d, const Bf16A& a, const Bf16B& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k16_bf16, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
        : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
#else
    no_tensor_core();
#endif
}

// mma.sync.m16n8k8, bf16: where only 8 of k are left.
__device__ __forceinline__ void mma_m16n8k8(Accumulators& d, const Bf16A8& a, const Bf16B8& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k8_bf16, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
        : "r"(a.x[0]), "r"(a.x[1]), "r"(b.x[0]));
#else
    no_tensor_core();
#endif
}

// mma.sync.m16n8k16, fp16: three bits of fraction more than bf16, and values up to 65504.
__device__ __forceinline__ void mma_m16n8k16(Accumulators& d, const HalfA& a, const HalfB& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k16_f16, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
        : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
#else
    no_tensor_core();
#endif
}

// mma.sync.m16n8k8, fp16: the one shape that a T4 has.
__device__ __forceinline__ void mma_m16n8k8(Accumulators& d, const HalfA8& a, const HalfB8& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k8_f16, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
                 : "r"(a.x[0]), "r"(a.x[1]), "r"(b.x[0]));
#else
    no_tensor_core();
#endif
}

// mma.sync.m16n8k16, fp16 with accumulators of fp16: twice the rate on a GeForce, and sums of 11 bits.
__device__ __forceinline__ void mma_m16n8k16(HalfAccumulators& d, const HalfA& a, const HalfB& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k16_f16_f16, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(d.x[0]), "+r"(d.x[1])
                 : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
#else
    no_tensor_core();
#endif
}

// mma.sync.m16n8k8, fp16 with accumulators of fp16, also on a T4.
__device__ __forceinline__ void mma_m16n8k8(HalfAccumulators& d, const HalfA8& a, const HalfB8& b) {
#if defined(__SIMT__)
    simt::mma_sync(simt::MmaShape::m16n8k8_f16_f16, d.x, a.x, b.x, d.x);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                 : "+r"(d.x[0]), "+r"(d.x[1])
                 : "r"(a.x[0]), "r"(a.x[1]), "r"(b.x[0]));
#else
    no_tensor_core();
#endif
}

// ldmatrix: kMatrices matrices of 8 rows of 16 bytes from shared memory, one register of each lane for each. Lane 8 j + r
// gives the address of row r of matrix j, aligned to 16 bytes; lane t gets word t % 4 of row t / 4, which is where mma wants
// it. One instruction for what takes four loads of 4 bytes, each with conflicts of its own.
template <int kMatrices>
__device__ __forceinline__ void ldmatrix(std::uint32_t (&to)[kMatrices], const void* row) {
    static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "ldmatrix loads 1, 2 or 4 matrices");
#if defined(__SIMT__)
    simt::load_matrix(to, kMatrices, false, row);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    const auto from = static_cast<unsigned int>(__cvta_generic_to_shared(row));
    if constexpr (kMatrices == 1) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(to[0]) : "r"(from) : "memory");
    } else if constexpr (kMatrices == 2) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(to[0]), "=r"(to[1])
                     : "r"(from)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    }
#else
    no_tensor_core();
#endif
}

// ldmatrix.trans: as ldmatrix, with each matrix transposed: lane t gets the elements 2 (t % 4) and next of column t / 4. For
// B that lies in shared memory row by row (k x n), without a copy of it that is transposed.
template <int kMatrices>
__device__ __forceinline__ void ldmatrix_trans(std::uint32_t (&to)[kMatrices], const void* row) {
    static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "ldmatrix loads 1, 2 or 4 matrices");
#if defined(__SIMT__)
    simt::load_matrix(to, kMatrices, true, row);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    const auto from = static_cast<unsigned int>(__cvta_generic_to_shared(row));
    if constexpr (kMatrices == 1) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(to[0]) : "r"(from) : "memory");
    } else if constexpr (kMatrices == 2) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(to[0]), "=r"(to[1])
                     : "r"(from)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    }
#else
    no_tensor_core();
#endif
}

}  // namespace ptx
