// SPDX-License-Identifier: MIT
//
// What the headers of libcu++ share: scopes, memory orders, sizes of known alignment. Within namespace cuda, std is
// cuda::std.
#pragma once
#pragma GCC system_header

#include <cstddef>

#include "../cuda_runtime.h"

// Only the type is needed here, and reading <atomic> takes longer than compiling most kernels. An enumeration without
// a fixed type, which it is before C++20, has no such declaration.
#if __cplusplus > 201703L
namespace std {
enum class memory_order : int;
}
#else
#include <atomic>
#endif

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {
using ::std::memory_order;
using ::std::ptrdiff_t;
using ::std::size_t;
constexpr memory_order memory_order_relaxed = memory_order(__ATOMIC_RELAXED);
constexpr memory_order memory_order_consume = memory_order(__ATOMIC_CONSUME);
constexpr memory_order memory_order_acquire = memory_order(__ATOMIC_ACQUIRE);
constexpr memory_order memory_order_release = memory_order(__ATOMIC_RELEASE);
constexpr memory_order memory_order_acq_rel = memory_order(__ATOMIC_ACQ_REL);
constexpr memory_order memory_order_seq_cst = memory_order(__ATOMIC_SEQ_CST);
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

// A number of bytes; it and the addresses are known to be multiples of N.
template <::std::size_t kAlignment>
struct aligned_size_t {
    static constexpr ::std::size_t align = kAlignment;
    ::std::size_t value;
    SIMT_INLINE explicit constexpr aligned_size_t(::std::size_t bytes) : value(bytes) {}
    SIMT_INLINE constexpr operator ::std::size_t() const { return value; }
};

}  // namespace cuda

namespace simt {

constexpr Scope scope_of(cuda::thread_scope scope) {
    return scope == cuda::thread_scope_system   ? Scope::system
           : scope == cuda::thread_scope_device ? Scope::device
                                                : Scope::block;
}

}  // namespace simt
