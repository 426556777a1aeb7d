// SPDX-License-Identifier: MIT
//
// What C++20's library has and these headers need with C++17 too.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <type_traits>

#define SIMT_INLINE __attribute__((always_inline)) inline

namespace simt {

template <class To, class From>
constexpr To bit_cast(const From& value) {
    return __builtin_bit_cast(To, value);
}
// Of an unsigned number of 32 or 64 bits.
template <class T>
constexpr int popcount(T x) {
    return __builtin_popcountll(x);
}
template <class T>
constexpr int countr_zero(T x) {
    return x == 0 ? 8 * int{sizeof(T)} : __builtin_ctzll(x);
}
template <class T>
constexpr int countl_zero(T x) {
    return x == 0 ? 8 * int{sizeof(T)} : __builtin_clzll(x) - (64 - 8 * int{sizeof(T)});
}
// The smallest power of two that is not less.
constexpr std::uint32_t bit_ceil(std::uint32_t x) {
    return x <= 1 ? 1 : std::uint32_t{1} << (32 - countl_zero(x - 1));
}

template <class T>
using remove_cvref_t = std::remove_cv_t<std::remove_reference_t<T>>;
template <class T>
struct TypeIdentity {
    using type = T;
};
template <class T>
using type_identity_t = typename TypeIdentity<T>::type;

}  // namespace simt
