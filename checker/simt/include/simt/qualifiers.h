// SPDX-License-Identifier: MIT
//
// CUDA's declaration words, and the words that simt-lower writes in their place (checker/simt/lower/lower.h).
#pragma once
#pragma GCC system_header

// A kernel's function is what the host calls: it must keep one address, which cudaFuncSetAttribute gets too.
#define __global__ __attribute__((noinline, noclone))
#define __host__
#define __device__
#define __device_builtin__
#define __cudart_builtin__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define SIMT_NOINLINE __attribute__((noinline))

// Shared memory is thread-local, so that it lies apart from everything else. `used`: an array that nobody writes must
// stay in memory, or its uninitialised read would fold to zero. `aligned`: nvcc too puts arrays of 16 bytes and more at
// multiples of 16.
#define __shared__ static thread_local __attribute__((used, aligned(16)))

// Device variables lie in sections of their own, so that the runtime knows them from the host's.
#define __constant__
#define __managed__
#define SIMT_DEVICE_VARIABLE __attribute__((section("simt_device")))
#define SIMT_CONSTANT_VARIABLE __attribute__((section("simt_constant")))
#define SIMT_MANAGED_VARIABLE __attribute__((section("simt_managed")))
// Inline ones and templates have no section: a scope tells the runtime what they are.
#define SIMT_DEVICE_SCOPE inline namespace simt_device_variable
#define SIMT_CONSTANT_SCOPE inline namespace simt_constant_variable
#define SIMT_MANAGED_SCOPE inline namespace simt_managed_variable

// Notes the type of a shared or device variable (types.h), and whether its declaration asks for an alignment. Its extents are a
// constant in the same scope, with its name after simt_extents_: so the runtime finds them in the symbol table.
#define SIMT_NOTE_TYPE(variable, n, aligned)                                                           \
    [[maybe_unused]] static constexpr const bool* simt_noted_##n = &::simt::noted<decltype(variable)>; \
    static constexpr ::simt::Extents simt_extents_##variable __attribute__((used)) =                   \
        ::simt::extents_of<decltype(variable)>(aligned);

// Follows a shared variable of a function that is not a kernel. It notes that the code at this place, which belongs to
// the kernel into which the function was inlined, uses the variable, and how large that is (runtime/memory/modules.h:
// SharedUse). The note is in the same section group as its code, so that the linker drops both or neither.
#define SIMT_NOTE_SHARED_USE(variable, n)                                                                   \
    constexpr int simt_identity_##n = ::simt::identity_of(__PRETTY_FUNCTION__, n);                          \
    __asm__ volatile(                                                                                       \
        "1:\n\t.pushsection simt_shared_use,\"a?\",@progbits\n\t.quad 1b - .\n\t.quad %c0\n\t.quad %c1\n\t" \
        ".popsection" ::"i"(simt_identity_##n),                                                             \
        "i"(sizeof(variable)));

// Guard bands between variables. Their names tell the runtime what they are.
#define SIMT_GUARD_BYTES 128
#define SIMT_SHARED_GUARD(n) static thread_local __attribute__((used)) char simt_guard_##n[SIMT_GUARD_BYTES];
#define SIMT_DEVICE_GUARD(n) static __attribute__((used, section("simt_device"))) char simt_guard_##n[SIMT_GUARD_BYTES];
#define SIMT_CONSTANT_GUARD(n) \
    static __attribute__((used, section("simt_constant"))) char simt_guard_##n[SIMT_GUARD_BYTES];
#define SIMT_MANAGED_GUARD(n) \
    static __attribute__((used, section("simt_managed"))) char simt_guard_##n[SIMT_GUARD_BYTES];

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDA_ARCH__ 900
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define CUDART_VERSION 13000
#define __SIMT__ 1  // the CPU device
#define CUDARTAPI
#define CUDART_CB
