// SPDX-License-Identifier: MIT
//
// What lowered launches and kernels call. Not for use by hand.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../driver_types.h"
#include "indices.h"
#include "judged.h"
#include "types.h"

// The dynamic shared memory of the block that is running.
extern "C" char simt_dynamic_shared[];

namespace simt {

struct LaunchBounds {
    unsigned int max_threads = 0;  // per block; 0: not stated
    unsigned int min_blocks = 0;
    unsigned int max_blocks_per_cluster = 0;
};

// Calls a kernel's body for one thread, with its own copy of each parameter's bits.
using ThreadBody = void (*)(const void* code, const void* const* parameters);

// A parameter on the stack of whoever calls the kernel's function. The bits of a reference are its address.
struct Parameter {
    const void* object;
    std::size_t bytes;
    std::size_t alignment;
    bool is_reference;
};

// A kernel, as its function passes it to the runtime.
struct KernelCall {
    const char* signature;  // __PRETTY_FUNCTION__
    LaunchBounds bounds;
    ThreadBody body;
    const void* code;  // the function that has the kernel's body
    const Parameter* parameters;
    std::size_t parameter_count;
    const void* shared_anchor;  // in the module's thread-local memory, which exists because it is named here
    bool has_hooks = SIMT_JUDGED;
    bool counts_arithmetic = SIMT_COUNTS_ARITHMETIC;
};

// The configuration of the launch that follows in the same expression.
void configure(dim3 grid, dim3 block, std::size_t dynamic_bytes = 0, cudaStream_t stream = nullptr,
               const char* file = __builtin_FILE(), unsigned int line = __builtin_LINE());

void launch(const KernelCall& call);

// Ends the program if the function called between <<<…>>> and here was the host's.
void launched();

// Returns true if a thread of a kernel calls.
bool in_kernel();

// The first thing that each thread calls in a kernel that is compiled for a debugger.
void thread_begins();

static thread_local char shared_anchor;

// Comes before a kernel's body, which is a function of its own. flatten: whatever it calls becomes part of it, as under
// nvcc.
#define SIMT_KERNEL_BODY __attribute__((noinline, flatten)) static void

// Returns true if a function gets a T as an address of an object that its caller has made (Itanium C++ ABI, "non-trivial
// for the purposes of calls").
template <class T>
constexpr bool is_passed_by_address() {
    return !std::is_trivially_destructible_v<T> ||
           !(std::is_copy_constructible_v<T> || std::is_move_constructible_v<T>) ||
           (std::is_copy_constructible_v<T> && !std::is_trivially_copy_constructible_v<T>) ||
           (std::is_move_constructible_v<T> && !std::is_trivially_move_constructible_v<T>);
}

// Passes a parameter's bits to a body that declares it as a T. The thread gets a copy of its own; no constructor that does
// anything and no destructor runs.
template <class T, bool = is_passed_by_address<T>()>
struct OwnBits {
    using Passed = T;
    using Source = std::conditional_t<std::is_copy_constructible_v<T>, const T&, T&&>;
    const void* bits;
    Source passed() { return static_cast<Source>(*static_cast<T*>(const_cast<void*>(bits))); }
};
template <class T>
struct OwnBits<T, true> {
    struct Object;  // stands for the T, so that none is made
    using Passed = Object&;
    alignas(T) unsigned char copy[sizeof(T)];
    __attribute__((always_inline, no_sanitize_thread)) explicit OwnBits(const void* bits) {
        __builtin_memcpy(copy, bits, sizeof copy);
    }
    Passed passed() { return *reinterpret_cast<Object*>(copy); }
};
template <class T, bool kByAddress>
struct OwnBits<T&, kByAddress> {
    using Passed = T&;
    const void* bits;
    Passed passed() { return **static_cast<T* const*>(bits); }
};
template <class T, bool kByAddress>
struct OwnBits<T&&, kByAddress> {
    using Passed = T&&;
    const void* bits;
    Passed passed() { return static_cast<T&&>(**static_cast<T* const*>(bits)); }
};

template <class... Parameters, std::size_t... i>
__attribute__((always_inline, no_sanitize_thread)) inline void call_with_bits(const void* code,
                                                                              const void* const* parameters,
                                                                              std::index_sequence<i...>) {
    reinterpret_cast<void (*)(typename OwnBits<Parameters>::Passed...)>(const_cast<void*>(code))(
        OwnBits<Parameters>{parameters[i]}.passed()...);
}

template <class... Parameters>
__attribute__((no_sanitize_thread)) void start_thread(const void* code, const void* const* parameters) {
    call_with_bits<Parameters...>(code, parameters, std::index_sequence_for<Parameters...>());
}

// `parameters` are those of the kernel's function, of which the types may be references.
template <class... Types, class... Objects>
__attribute__((always_inline, no_sanitize_thread)) inline void enter(const char* signature, LaunchBounds bounds,
                                                                     void (*body)(Types...), Objects&... parameters) {
    static_assert(
        (0 + ... + (std::is_reference_v<Types> ? sizeof(void*) : sizeof(std::remove_reference_t<Types>))) <= 32764,
        "formal parameter space overflowed: a kernel's parameters may have 32764 bytes");
    static_cast<void>((&noted<Objects> && ...));
    // Notes that the function which this is inlined into is a kernel (runtime/memory/modules.h: is_kernel).
    __asm__ volatile("1:\n\t.pushsection simt_kernel,\"a?\",@progbits\n\t.quad 1b - .\n\t.popsection");
    const Parameter all[] = {{__builtin_addressof(const_cast<std::remove_cv_t<Objects>&>(parameters)),
                              sizeof parameters, alignof(Objects), std::is_reference_v<Types>}...,
                             {}};
    launch({signature, bounds, start_thread<Types...>, reinterpret_cast<const void*>(body), all, sizeof...(Types),
            &shared_anchor});
}

}  // namespace simt
