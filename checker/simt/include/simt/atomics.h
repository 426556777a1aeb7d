// SPDX-License-Identifier: MIT
//
// Atomics. Each gives the value that was there before. The value is converted to the type that lies there, as in
// atomicAdd(&unsigned_sum, 1); types for which CUDA has no such atomic do not compile.
#pragma once
#pragma GCC system_header

#include <type_traits>

#include "bits_of.h"
#include "judged.h"
#include "synchronise.h"

namespace simt {

enum class Atomic { add, subtract, exchange, minimum, maximum, increment, decrement, bit_and, bit_or, bit_xor };
enum class Scope { block, device, system };

// Defined in the runtime for the types below. The order is one of the compiler's __ATOMIC_RELAXED and so on.
template <class T>
T atomic(Atomic operation, T* address, T operand, Scope scope, int order = __ATOMIC_RELAXED, bool judged = SIMT_JUDGED);
template <class T>
T compare_and_swap(T* address, T expected, T desired, Scope scope, int order = __ATOMIC_RELAXED,
                   bool judged = SIMT_JUDGED);
// An exchange, which only writes where nobody uses what was there before.
template <class T>
struct Exchanged {
    T old;
    const T* unwritten;  // null: somebody had written there
};
template <class T>
Exchanged<T> exchange(T* address, T value, Scope scope, bool judged = SIMT_JUDGED);
// Gives the old value to code that uses it, and reports if nobody had written it. The compiler leaves out a call whose
// value nobody uses: `const` promises that it has no other effect.
template <class T>
__attribute__((const)) T used(T old, const T* unwritten) noexcept;
// Gives the old value to code that uses it, and notes that the thread has looked at the atomic: who polls does so.
template <class T>
__attribute__((const)) T used(T old) noexcept;

// Of unsigned numbers of 8, 16, 32 and 64 bits.
template <class T>
T load(const T* address, Scope scope, int order, bool judged = SIMT_JUDGED);
template <class T>
void store(T* address, T value, Scope scope, int order, bool judged = SIMT_JUDGED);

template <class T, class... Types>
concept OneOf = (std::is_same_v<T, Types> || ...);

}  // namespace simt

// The function for the device, for the block, and for the system, of each of these types.
#define SIMT_ATOMIC_IN(scope, name, operation, ...)                                                   \
    template <simt::OneOf<__VA_ARGS__> T>                                                             \
    inline T name(T* address, simt::type_identity_t<T> value) {                                       \
        return simt::used(simt::atomic(simt::Atomic::operation, address, value, simt::Scope::scope)); \
    }
#define SIMT_ATOMIC(name, operation, ...)                       \
    SIMT_ATOMIC_IN(device, name, operation, __VA_ARGS__)        \
    SIMT_ATOMIC_IN(block, name##_block, operation, __VA_ARGS__) \
    SIMT_ATOMIC_IN(system, name##_system, operation, __VA_ARGS__)
SIMT_ATOMIC(atomicAdd, add, int, unsigned int, unsigned long long, float, double)
SIMT_ATOMIC(atomicSub, subtract, int, unsigned int)
SIMT_ATOMIC(atomicMin, minimum, int, unsigned int, long long, unsigned long long)
SIMT_ATOMIC(atomicMax, maximum, int, unsigned int, long long, unsigned long long)
SIMT_ATOMIC(atomicInc, increment, unsigned int)
SIMT_ATOMIC(atomicDec, decrement, unsigned int)
SIMT_ATOMIC(atomicAnd, bit_and, int, unsigned int, unsigned long long)
SIMT_ATOMIC(atomicOr, bit_or, int, unsigned int, unsigned long long)
SIMT_ATOMIC(atomicXor, bit_xor, int, unsigned int, unsigned long long)
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_IN

#define SIMT_EXCHANGE(scope, name)                                                            \
    template <simt::OneOf<int, unsigned int, unsigned long long, float> T>                    \
    inline T name(T* address, simt::type_identity_t<T> value) {                               \
        const simt::Exchanged<T> was = simt::exchange<T>(address, value, simt::Scope::scope); \
        return simt::used<T>(was.old, was.unwritten);                                         \
    }
SIMT_EXCHANGE(device, atomicExch)
SIMT_EXCHANGE(block, atomicExch_block)
SIMT_EXCHANGE(system, atomicExch_system)
#undef SIMT_EXCHANGE

#define SIMT_COMPARE_AND_SWAP(scope, name)                                                           \
    template <simt::OneOf<int, unsigned int, unsigned long long, unsigned short> T>                  \
    inline T name(T* address, simt::type_identity_t<T> expected, simt::type_identity_t<T> desired) { \
        return simt::used(simt::compare_and_swap(address, expected, desired, simt::Scope::scope));   \
    }
SIMT_COMPARE_AND_SWAP(device, atomicCAS)
SIMT_COMPARE_AND_SWAP(block, atomicCAS_block)
SIMT_COMPARE_AND_SWAP(system, atomicCAS_system)
#undef SIMT_COMPARE_AND_SWAP

// ---- with an order and a scope, as the compiler's own builtins: __nv_atomic_load_n and its kin -----------------------

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD 1
#define __NV_THREAD_SCOPE_BLOCK 2
#define __NV_THREAD_SCOPE_CLUSTER 3
#define __NV_THREAD_SCOPE_DEVICE 4
#define __NV_THREAD_SCOPE_SYSTEM 5

namespace simt {

constexpr Scope scope_of(int scope) {
    return scope <= __NV_THREAD_SCOPE_BLOCK    ? Scope::block
           : scope <= __NV_THREAD_SCOPE_DEVICE ? Scope::device
                                               : Scope::system;
}

template <std::size_t Bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
    using type = unsigned char;
};
template <>
struct BitsOf<2> {
    using type = unsigned short;
};
template <>
struct BitsOf<4> {
    using type = unsigned int;
};
template <>
struct BitsOf<8> {
    using type = unsigned long long;
};
template <class T>
using Bits = typename BitsOf<sizeof(T)>::type;

// The type of which the runtime has arithmetic: the one of the same size and sign.
template <class T>
using Arithmetic =
    std::conditional_t<std::is_floating_point_v<T>, T,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int, unsigned int>,
                                          std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>>;

template <class T>
SIMT_INLINE T load_value(const T* address, int order, Scope scope) {
    return bit_cast<T>(load(reinterpret_cast<const Bits<T>*>(address), scope, order));
}
template <class T>
SIMT_INLINE void store_value(T* address, T value, int order, Scope scope) {
    store(reinterpret_cast<Bits<T>*>(address), bit_cast<Bits<T>>(value), scope, order);
}
// Gives what was there; if that is the expected value, it becomes the desired one.
template <class T>
SIMT_INLINE T swap_value(T* address, T expected, T desired, int order, Scope scope) {
    return bit_cast<T>(used(compare_and_swap(reinterpret_cast<Bits<T>*>(address), bit_cast<Bits<T>>(expected),
                                             bit_cast<Bits<T>>(desired), scope, order)));
}
template <class T>
SIMT_INLINE bool same(const T& a, const T& b) {
    return __builtin_memcmp(&a, &b, sizeof(T)) == 0;
}
template <class T>
SIMT_INLINE T exchange_value(T* address, T value, int order, Scope scope) {
    if constexpr (sizeof(T) >= 4) {
        return bit_cast<T>(used(
            atomic(Atomic::exchange, reinterpret_cast<Bits<T>*>(address), bit_cast<Bits<T>>(value), scope, order)));
    } else {
        T seen = load_value(address, __ATOMIC_RELAXED, scope);
        for (T expected = seen; (seen = swap_value(address, expected, value, order, scope)), !same(seen, expected);) {
            expected = seen;
        }
        return seen;
    }
}
template <class T>
SIMT_INLINE T change_value(Atomic operation, T* address, T operand, int order, Scope scope) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "arithmetic on a variable of 32 or 64 bits");
    return static_cast<T>(used(atomic(operation, reinterpret_cast<Arithmetic<T>*>(address),
                                      static_cast<Arithmetic<T>>(operand), scope, order)));
}

}  // namespace simt

template <class T>
SIMT_INLINE T __nv_atomic_load_n(const T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return simt::load_value(address, order, simt::scope_of(scope));
}
template <class T>
SIMT_INLINE void __nv_atomic_load(const T* address, T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *value = simt::load_value(address, order, simt::scope_of(scope));
}
template <class T>
SIMT_INLINE void __nv_atomic_store_n(T* address, simt::type_identity_t<T> value, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM) {
    simt::store_value(address, value, order, simt::scope_of(scope));
}
template <class T>
SIMT_INLINE void __nv_atomic_store(T* address, const T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    simt::store_value(address, *value, order, simt::scope_of(scope));
}
template <class T>
SIMT_INLINE T __nv_atomic_exchange_n(T* address, simt::type_identity_t<T> value, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return simt::exchange_value(address, value, order, simt::scope_of(scope));
}
template <class T>
SIMT_INLINE void __nv_atomic_exchange(T* address, const T* value, T* before, int order,
                                      int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *before = simt::exchange_value(address, *value, order, simt::scope_of(scope));
}
template <class T>
SIMT_INLINE bool __nv_atomic_compare_exchange_n(T* address, T* expected, simt::type_identity_t<T> desired, bool,
                                                int success, int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    const T seen = simt::swap_value(address, *expected, desired, success, simt::scope_of(scope));
    const bool same = simt::same(seen, *expected);
    *expected = seen;
    return same;
}
template <class T>
SIMT_INLINE bool __nv_atomic_compare_exchange(T* address, T* expected, const T* desired, bool weak, int success,
                                              int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_compare_exchange_n(address, expected, *desired, weak, success, failure, scope);
}
#define SIMT_FETCH(name, operation)                                                                       \
    template <class T>                                                                                    \
    SIMT_INLINE T __nv_atomic_fetch_##name(T* address, simt::type_identity_t<T> value, int order,         \
                                           int scope = __NV_THREAD_SCOPE_SYSTEM) {                        \
        return simt::change_value(simt::Atomic::operation, address, value, order, simt::scope_of(scope)); \
    }
SIMT_FETCH(add, add)
SIMT_FETCH(and, bit_and)
SIMT_FETCH(or, bit_or)
SIMT_FETCH(xor, bit_xor)
SIMT_FETCH(min, minimum)
SIMT_FETCH(max, maximum)
#undef SIMT_FETCH
template <class T>
SIMT_INLINE T __nv_atomic_fetch_sub(T* address, simt::type_identity_t<T> value, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return simt::change_value(simt::Atomic::add, address, static_cast<T>(-value), order, simt::scope_of(scope));
}
SIMT_INLINE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    if (order != __NV_ATOMIC_RELAXED) {
        scope <= __NV_THREAD_SCOPE_BLOCK ? __threadfence_block() : __threadfence();
    }
}
SIMT_INLINE void __nv_atomic_signal_fence(int, int = __NV_THREAD_SCOPE_SYSTEM) {}
