// SPDX-License-Identifier: MIT
//
// Atomics. Each gives the value that was there before. The value is converted to the type that lies there, as in
// atomicAdd(&unsigned_sum, 1); types for which CUDA has no such atomic do not compile.
#pragma once
#pragma GCC system_header

#include <type_traits>

#include "bits_of.h"
#include "judged.h"

namespace simt {

enum class Atomic { add, subtract, exchange, minimum, maximum, increment, decrement, bit_and, bit_or, bit_xor };
enum class Scope { block, device, system };

// Defined in the runtime for the types below.
template <class T>
T atomic(Atomic operation, T* address, T operand, Scope scope, bool judged = SIMT_JUDGED);
template <class T>
T compare_and_swap(T* address, T expected, T desired, Scope scope, bool judged = SIMT_JUDGED);

template <class T, class... Types>
concept OneOf = (std::is_same_v<T, Types> || ...);

}  // namespace simt

// The function for the device, for the block, and for the system, of each of these types.
#define SIMT_ATOMIC_IN(scope, name, operation, ...)                                       \
    template <simt::OneOf<__VA_ARGS__> T>                                                 \
    inline T name(T* address, simt::type_identity_t<T> value) {                           \
        return simt::atomic(simt::Atomic::operation, address, value, simt::Scope::scope); \
    }
#define SIMT_ATOMIC(name, operation, ...)                       \
    SIMT_ATOMIC_IN(device, name, operation, __VA_ARGS__)        \
    SIMT_ATOMIC_IN(block, name##_block, operation, __VA_ARGS__) \
    SIMT_ATOMIC_IN(system, name##_system, operation, __VA_ARGS__)
SIMT_ATOMIC(atomicAdd, add, int, unsigned int, unsigned long long, float, double)
SIMT_ATOMIC(atomicSub, subtract, int, unsigned int)
SIMT_ATOMIC(atomicExch, exchange, int, unsigned int, unsigned long long, float)
SIMT_ATOMIC(atomicMin, minimum, int, unsigned int, long long, unsigned long long)
SIMT_ATOMIC(atomicMax, maximum, int, unsigned int, long long, unsigned long long)
SIMT_ATOMIC(atomicInc, increment, unsigned int)
SIMT_ATOMIC(atomicDec, decrement, unsigned int)
SIMT_ATOMIC(atomicAnd, bit_and, int, unsigned int, unsigned long long)
SIMT_ATOMIC(atomicOr, bit_or, int, unsigned int, unsigned long long)
SIMT_ATOMIC(atomicXor, bit_xor, int, unsigned int, unsigned long long)
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_IN

#define SIMT_COMPARE_AND_SWAP(scope, name)                                                           \
    template <simt::OneOf<int, unsigned int, unsigned long long, unsigned short> T>                  \
    inline T name(T* address, simt::type_identity_t<T> expected, simt::type_identity_t<T> desired) { \
        return simt::compare_and_swap(address, expected, desired, simt::Scope::scope);               \
    }
SIMT_COMPARE_AND_SWAP(device, atomicCAS)
SIMT_COMPARE_AND_SWAP(block, atomicCAS_block)
SIMT_COMPARE_AND_SWAP(system, atomicCAS_system)
#undef SIMT_COMPARE_AND_SWAP
