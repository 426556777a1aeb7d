// SPDX-License-Identifier: MIT
//
// What lowered launches and kernels call. Not for use by hand.
#pragma once
#pragma GCC system_header

#include <cstddef>

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

// One thread of a kernel: runs the body on its own copy of the parameters.
using ThreadBody = void (*)(const void* parameters);

// A kernel, as its function passes it to the runtime.
struct KernelCall {
    const char* signature;  // __PRETTY_FUNCTION__
    LaunchBounds bounds;
    ThreadBody body;
    const void* code;  // the function that the kernel's own code was inlined into
    const void* parameters;
    std::size_t parameter_bytes;
    std::size_t parameter_alignment;
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

// A kernel's parameters, on the stack of whoever calls its function.
struct Parameter {
    void* where;
    std::size_t bytes;
};
// Replaces their values by the arguments that cudaLaunchKernel was given, where it calls, and knows them for the launch
// that follows: a node of a graph keeps them.
void take_parameters(const Parameter* parameters, std::size_t count);

template <class... Parameters>
__attribute__((no_sanitize_thread)) void arguments(Parameters&... parameters) {
    static_cast<void>((&noted<Parameters> && ...));
    const Parameter all[] = {{const_cast<void*>(static_cast<const volatile void*>(&parameters)), sizeof parameters}...,
                             {nullptr, 0}};
    take_parameters(all, sizeof...(Parameters));
}

// The first thing that each thread calls in a kernel that is compiled for a debugger.
void thread_begins();

static thread_local char shared_anchor;

// It is not inlined, so that the parameters are the thread's own, on its own stack, and reading them is not an access
// to memory. flatten: whatever the kernel calls becomes part of it, as under nvcc.
template <class Kernel>
__attribute__((noinline, flatten)) void run_thread(Kernel kernel) {
    kernel();
}

template <class Kernel>
__attribute__((no_sanitize_thread)) void start_thread(const void* kernel) {
    run_thread(*static_cast<const Kernel*>(kernel));
}

template <class Kernel>
__attribute__((always_inline, no_sanitize_thread)) inline void enter(const char* signature, LaunchBounds bounds,
                                                                     const Kernel& kernel) {
    launch({signature, bounds, start_thread<Kernel>, reinterpret_cast<const void*>(&run_thread<Kernel>), &kernel,
            sizeof kernel, alignof(Kernel), &shared_anchor});
}

}  // namespace simt
