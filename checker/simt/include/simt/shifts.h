// SPDX-License-Identifier: MIT
//
// Shifts as a GPU makes them: by as many bits as the number has, or more, they give 0, and -1 of a negative number to
// the right (PTX ISA, shl and shr: larger amounts are clamped to the width). C++ leaves that undefined, and the host's
// instruction takes the amount modulo the width. In code of the device simt-lower writes `a << ::simt::Left() << b` for
// `a << b`, which binds as before, and `a <<= ::simt::Amount() = b` for `a <<= b`.
#pragma once
#pragma GCC system_header

#include <type_traits>
#include <utility>

namespace simt {

struct Left {};
struct Right {};

// The left operand on its way to the second operator: a number, or a reference to an object with operators of its own.
template <class T, class Direction>
struct Shifted {
    T operand;
};

template <class T>
inline constexpr bool has_operators =
    std::is_class_v<std::remove_reference_t<T>> || std::is_union_v<std::remove_reference_t<T>>;

template <class T, std::enable_if_t<!has_operators<T>, int> = 0>
__attribute__((always_inline)) constexpr Shifted<T, Left> operator<<(T number, Left) {
    return {number};
}
template <class T, std::enable_if_t<!has_operators<T>, int> = 0>
__attribute__((always_inline)) constexpr Shifted<T, Right> operator>>(T number, Right) {
    return {number};
}
template <class T, std::enable_if_t<has_operators<T>, int> = 0>
__attribute__((always_inline)) constexpr Shifted<T&&, Left> operator<<(T&& object, Left) {
    return {std::forward<T>(object)};
}
template <class T, std::enable_if_t<has_operators<T>, int> = 0>
__attribute__((always_inline)) constexpr Shifted<T&&, Right> operator>>(T&& object, Right) {
    return {std::forward<T>(object)};
}

template <class T, class U>
__attribute__((always_inline)) constexpr auto shifted_left(T number, U amount) {
    using Result = decltype(number << amount);
    return static_cast<unsigned int>(amount) < sizeof(Result) * 8 ? number << amount : Result(0);
}
template <class T, class U>
__attribute__((always_inline)) constexpr auto shifted_right(T number, U amount) {
    using Result = decltype(number >> amount);
    return static_cast<unsigned int>(amount) < sizeof(Result) * 8 ? number >> amount : Result(number < T(0) ? -1 : 0);
}

template <class T, class U>
inline constexpr bool are_numbers = (std::is_integral_v<T> || std::is_enum_v<T>)&&(std::is_integral_v<U> ||
                                                                                   std::is_enum_v<U>);

template <class T, class U, std::enable_if_t<!has_operators<U>, int> = 0>
__attribute__((always_inline)) constexpr decltype(auto) operator<<(Shifted<T, Left> left, U amount) {
    if constexpr (are_numbers<T, U>) {
        return shifted_left(left.operand, amount);
    } else {
        return std::forward<T>(left.operand) << amount;
    }
}
template <class T, class U, std::enable_if_t<has_operators<U>, int> = 0>
__attribute__((always_inline)) constexpr decltype(auto) operator<<(Shifted<T, Left> left, U&& object) {
    return std::forward<T>(left.operand) << std::forward<U>(object);
}
template <class T, class U, std::enable_if_t<!has_operators<U>, int> = 0>
__attribute__((always_inline)) constexpr decltype(auto) operator>>(Shifted<T, Right> left, U amount) {
    if constexpr (are_numbers<T, U>) {
        return shifted_right(left.operand, amount);
    } else {
        return std::forward<T>(left.operand) >> amount;
    }
}
template <class T, class U, std::enable_if_t<has_operators<U>, int> = 0>
__attribute__((always_inline)) constexpr decltype(auto) operator>>(Shifted<T, Right> left, U&& object) {
    return std::forward<T>(left.operand) >> std::forward<U>(object);
}

// The right operand of a shift that assigns.
template <class T>
struct AmountOf {
    T value;
};
struct Amount {
    template <class T>
    __attribute__((always_inline)) constexpr AmountOf<T> operator=(T value) const {
        return {value};
    }
};

template <class T, class U>
__attribute__((always_inline)) constexpr T& operator<<=(T& number, AmountOf<U> amount) {
    if constexpr (are_numbers<std::remove_cv_t<T>, U>) {
        number = static_cast<std::remove_cv_t<T>>(shifted_left(static_cast<std::remove_cv_t<T>>(number), amount.value));
    } else {
        number <<= amount.value;
    }
    return number;
}
template <class T, class U>
__attribute__((always_inline)) constexpr T& operator>>=(T& number, AmountOf<U> amount) {
    if constexpr (are_numbers<std::remove_cv_t<T>, U>) {
        number =
            static_cast<std::remove_cv_t<T>>(shifted_right(static_cast<std::remove_cv_t<T>>(number), amount.value));
    } else {
        number >>= amount.value;
    }
    return number;
}

}  // namespace simt
