// SPDX-License-Identifier: MIT
//
// What the groups' reductions and scans share: which types fit, and how they change an atomic.
#pragma once
#pragma GCC system_header

#include <type_traits>

#include "../cuda/atomic"
#include "group_operators.h"

// CUDA refuses an operator whose result has another type than its operands.
#define SIMT_SAME_TYPE(op, value)                                                                                \
    static_assert(                                                                                               \
        std::is_same_v<simt::remove_cvref_t<decltype(op(value, value))>, simt::remove_cvref_t<decltype(value)>>, \
        "the operator's result has another type than the values, which CUDA refuses: plus<float>() is for floats")
#define SIMT_OF_A_TILE(name)                                                                                  \
    template <class Group, class T, class Operator>                                                           \
    __attribute__((unavailable("cg::" #name " takes a tile or a coalesced group, under CUDA too"))) int name( \
        const Group&, T&&, Operator&&);

namespace simt {

template <class Atomic>
constexpr bool is_atomic = false;
template <class T, cuda::thread_scope Scope>
constexpr bool is_atomic<cuda::atomic<T, Scope>> = true;
template <class T, cuda::thread_scope Scope>
constexpr bool is_atomic<cuda::atomic_ref<T, Scope>> = true;
template <class Atomic>
concept UpdatedAtomic = is_atomic<remove_cvref_t<Atomic>>;

// Gives what the atomic held. What the hardware can do to an integer is one atomic; the rest is a loop.
template <class Atomic, class T, class Operator>
SIMT_INLINE T update(Atomic& atomic, T value, Operator& op) {
    namespace cg = cooperative_groups;
    using Op = remove_cvref_t<Operator>;
    constexpr auto relaxed = cuda::memory_order_relaxed;
    constexpr bool is_word = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (is_word && std::is_same_v<Op, cg::plus<T>>) {
        return atomic.fetch_add(value, relaxed);
    } else if constexpr (is_word && std::is_same_v<Op, cg::less<T>>) {
        return atomic.fetch_min(value, relaxed);
    } else if constexpr (is_word && std::is_same_v<Op, cg::greater<T>>) {
        return atomic.fetch_max(value, relaxed);
    } else if constexpr (is_word && std::is_same_v<Op, cg::bit_and<T>>) {
        return atomic.fetch_and(value, relaxed);
    } else if constexpr (is_word && std::is_same_v<Op, cg::bit_or<T>>) {
        return atomic.fetch_or(value, relaxed);
    } else if constexpr (is_word && std::is_same_v<Op, cg::bit_xor<T>>) {
        return atomic.fetch_xor(value, relaxed);
    } else {
        T old = atomic.load(relaxed);
        while (!atomic.compare_exchange_weak(old, op(old, value), relaxed)) {}
        return old;
    }
}

// The last thread of the group, whose value is that of all of them, changes the atomic. Gives all threads what it held.
template <class Group, class Atomic, class T, class Operator>
SIMT_INLINE T updated_by_the_last(const Group& group, Atomic& atomic, const T& value, Operator& op) {
    T old = value;
    if (group.thread_rank() == group.num_threads() - 1) {
        old = update(atomic, value, op);
    }
    return group.shfl(old, group.num_threads() - 1);
}

}  // namespace simt
