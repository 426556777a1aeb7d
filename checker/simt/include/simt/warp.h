// SPDX-License-Identifier: MIT
//
// Shuffles, votes, match and reduce: the lanes of the mask that have not exited exchange registers.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace simt {

enum class Shuffle { index, up, down, exclusive_or };
enum class Reduce { add, minimum, maximum, bit_and, bit_or, bit_xor };

// `bytes`: of the value. `name`: what findings call it, if it is not one of CUDA's own functions.
std::uint64_t shuffle(Shuffle kind, unsigned int mask, std::uint64_t bits, unsigned int bytes, int operand, int width,
                      const char* name = nullptr);
unsigned int match_any(unsigned int mask, std::uint64_t bits, const char* name = nullptr);
unsigned int match_all(unsigned int mask, std::uint64_t bits, int* predicate, const char* name = nullptr);
unsigned int reduce_unsigned(Reduce kind, unsigned int mask, unsigned int value);
int reduce_signed(Reduce kind, unsigned int mask, int value);

template <class T>
concept Word = std::is_trivially_copyable_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 2) &&
               !std::is_pointer_v<T>;

template <Word T>
__attribute__((always_inline)) inline std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <Word T>
__attribute__((always_inline)) inline T from_bits(std::uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace simt

template <simt::Word T>
__attribute__((always_inline)) inline T __shfl_sync(unsigned int mask, T value, int lane, int width = 32) {
    return simt::from_bits<T>(
        simt::shuffle(simt::Shuffle::index, mask, simt::to_bits(value), sizeof value, lane, width));
}
template <simt::Word T>
__attribute__((always_inline)) inline T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {
    return simt::from_bits<T>(
        simt::shuffle(simt::Shuffle::up, mask, simt::to_bits(value), sizeof value, static_cast<int>(delta), width));
}
template <simt::Word T>
__attribute__((always_inline)) inline T __shfl_down_sync(unsigned int mask, T value, unsigned int delta,
                                                         int width = 32) {
    return simt::from_bits<T>(
        simt::shuffle(simt::Shuffle::down, mask, simt::to_bits(value), sizeof value, static_cast<int>(delta), width));
}
template <simt::Word T>
__attribute__((always_inline)) inline T __shfl_xor_sync(unsigned int mask, T value, int lanes, int width = 32) {
    return simt::from_bits<T>(
        simt::shuffle(simt::Shuffle::exclusive_or, mask, simt::to_bits(value), sizeof value, lanes, width));
}
template <simt::Word T>
__attribute__((always_inline)) inline unsigned int __match_any_sync(unsigned int mask, T value) {
    return simt::match_any(mask, simt::to_bits(value));
}
template <simt::Word T>
__attribute__((always_inline)) inline unsigned int __match_all_sync(unsigned int mask, T value, int* predicate) {
    return simt::match_all(mask, simt::to_bits(value), predicate);
}

extern "C" {
unsigned int __ballot_sync(unsigned int mask, int predicate);
int __any_sync(unsigned int mask, int predicate);
int __all_sync(unsigned int mask, int predicate);
unsigned int __activemask();
}

inline unsigned int __reduce_add_sync(unsigned int mask, unsigned int value) {
    return simt::reduce_unsigned(simt::Reduce::add, mask, value);
}
inline unsigned int __reduce_min_sync(unsigned int mask, unsigned int value) {
    return simt::reduce_unsigned(simt::Reduce::minimum, mask, value);
}
inline unsigned int __reduce_max_sync(unsigned int mask, unsigned int value) {
    return simt::reduce_unsigned(simt::Reduce::maximum, mask, value);
}
inline int __reduce_add_sync(unsigned int mask, int value) {
    return simt::reduce_signed(simt::Reduce::add, mask, value);
}
inline int __reduce_min_sync(unsigned int mask, int value) {
    return simt::reduce_signed(simt::Reduce::minimum, mask, value);
}
inline int __reduce_max_sync(unsigned int mask, int value) {
    return simt::reduce_signed(simt::Reduce::maximum, mask, value);
}
inline unsigned int __reduce_and_sync(unsigned int mask, unsigned int value) {
    return simt::reduce_unsigned(simt::Reduce::bit_and, mask, value);
}
inline unsigned int __reduce_or_sync(unsigned int mask, unsigned int value) {
    return simt::reduce_unsigned(simt::Reduce::bit_or, mask, value);
}
inline unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value) {
    return simt::reduce_unsigned(simt::Reduce::bit_xor, mask, value);
}
