// SPDX-License-Identifier: MIT
//
// Functions of two numbers of 16 bits or four of 8 bits in one word, dot products of such, and the sums with minimum or
// maximum that dynamic programming needs.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <limits>
#include <type_traits>

#include "../vector_types.h"
#include "bits_of.h"

namespace simt {

// Applies the function to each lane, a number of type T that is widened to int, and keeps the result's low bits.
template <class T, class Function, class... Words>
constexpr unsigned int each_lane(Function function, Words... words) {
    constexpr unsigned int kBits = 8 * sizeof(T), kMask = (1U << kBits) - 1;
    unsigned int result = 0;
    for (unsigned int at = 0; at < 32; at += kBits) {
        result |= (static_cast<unsigned int>(function(static_cast<int>(static_cast<T>(words >> at))...)) & kMask) << at;
    }
    return result;
}
template <class T>
constexpr int saturated(int x) {
    constexpr int kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    return x < kLeast ? kLeast : x > kMost ? kMost : x;
}
constexpr int smaller(int x, int y) {
    return x < y ? x : y;
}
constexpr int larger(int x, int y) {
    return x < y ? y : x;
}
constexpr int distance(int x, int y) {
    return x < y ? y - x : x - y;
}
constexpr int wrapping_sum(int x, int y) {
    return static_cast<int>(static_cast<unsigned int>(x) + static_cast<unsigned int>(y));
}

}  // namespace simt

#define SIMT_LANES_1(name, T, value)                                    \
    constexpr unsigned int name(unsigned int a) {                       \
        return simt::each_lane<std::T>([](int x) { return value; }, a); \
    }
#define SIMT_LANES_2(name, T, value)                                              \
    constexpr unsigned int name(unsigned int a, unsigned int b) {                 \
        return simt::each_lane<std::T>([](int x, int y) { return value; }, a, b); \
    }
#define SIMT_LANES_3(name, T, value)                                                        \
    constexpr unsigned int name(unsigned int a, unsigned int b, unsigned int c) {           \
        return simt::each_lane<std::T>([](int x, int y, int z) { return value; }, a, b, c); \
    }
// A comparison gives all ones (vcmp) or 1 (vset).
#define SIMT_COMPARED(name, n, T, value)          \
    SIMT_LANES_2(__vcmp##name##n, T, -int(value)) \
    SIMT_LANES_2(__vset##name##n, T, int(value))
// For n lanes of the types S and U.
#define SIMT_WORDS(n, S, U)                                               \
    SIMT_LANES_1(__vabs##n, S, x < 0 ? -x : x)                            \
    SIMT_LANES_1(__vabsss##n, S, simt::saturated<std::S>(x < 0 ? -x : x)) \
    SIMT_LANES_1(__vneg##n, S, -x)                                        \
    SIMT_LANES_1(__vnegss##n, S, simt::saturated<std::S>(-x))             \
    SIMT_LANES_2(__vadd##n, U, x + y)                                     \
    SIMT_LANES_2(__vaddss##n, S, simt::saturated<std::S>(x + y))          \
    SIMT_LANES_2(__vaddus##n, U, simt::saturated<std::U>(x + y))          \
    SIMT_LANES_2(__vsub##n, U, x - y)                                     \
    SIMT_LANES_2(__vsubss##n, S, simt::saturated<std::S>(x - y))          \
    SIMT_LANES_2(__vsubus##n, U, simt::saturated<std::U>(x - y))          \
    SIMT_LANES_2(__vavgu##n, U, (x + y + 1) >> 1)                         \
    SIMT_LANES_2(__vhaddu##n, U, (x + y) >> 1)                            \
    SIMT_LANES_2(__vabsdiffs##n, S, simt::distance(x, y))                 \
    SIMT_LANES_2(__vabsdiffu##n, U, simt::distance(x, y))                 \
    SIMT_LANES_2(__vmaxs##n, S, simt::larger(x, y))                       \
    SIMT_LANES_2(__vmaxu##n, U, simt::larger(x, y))                       \
    SIMT_LANES_2(__vmins##n, S, simt::smaller(x, y))                      \
    SIMT_LANES_2(__vminu##n, U, simt::smaller(x, y))                      \
    SIMT_COMPARED(eq, n, U, x == y)                                       \
    SIMT_COMPARED(ne, n, U, x != y)                                       \
    SIMT_COMPARED(ges, n, S, x >= y)                                      \
    SIMT_COMPARED(geu, n, U, x >= y)                                      \
    SIMT_COMPARED(gts, n, S, x > y)                                       \
    SIMT_COMPARED(gtu, n, U, x > y)                                       \
    SIMT_COMPARED(les, n, S, x <= y)                                      \
    SIMT_COMPARED(leu, n, U, x <= y)                                      \
    SIMT_COMPARED(lts, n, S, x < y)                                       \
    SIMT_COMPARED(ltu, n, U, x < y)                                       \
    constexpr unsigned int __vsads##n(unsigned int a, unsigned int b) {   \
        unsigned int sum = 0;                                             \
        for (unsigned int at = 0; at < 32; at += 8 * sizeof(std::S)) {    \
            sum += simt::distance(std::S(a >> at), std::S(b >> at));      \
        }                                                                 \
        return sum;                                                       \
    }                                                                     \
    constexpr unsigned int __vsadu##n(unsigned int a, unsigned int b) {   \
        unsigned int sum = 0;                                             \
        for (unsigned int at = 0; at < 32; at += 8 * sizeof(std::U)) {    \
            sum += simt::distance(std::U(a >> at), std::U(b >> at));      \
        }                                                                 \
        return sum;                                                       \
    }
SIMT_WORDS(2, int16_t, uint16_t)
SIMT_WORDS(4, int8_t, uint8_t)

SIMT_LANES_3(__viaddmax_s16x2, int16_t, simt::larger(std::int16_t(x + y), z))
SIMT_LANES_3(__viaddmin_s16x2, int16_t, simt::smaller(std::int16_t(x + y), z))
SIMT_LANES_3(__viaddmax_s16x2_relu, int16_t, simt::larger(simt::larger(std::int16_t(x + y), z), 0))
SIMT_LANES_3(__viaddmin_s16x2_relu, int16_t, simt::larger(simt::smaller(std::int16_t(x + y), z), 0))
SIMT_LANES_3(__viaddmax_u16x2, uint16_t, simt::larger(std::uint16_t(x + y), z))
SIMT_LANES_3(__viaddmin_u16x2, uint16_t, simt::smaller(std::uint16_t(x + y), z))
SIMT_LANES_3(__vimax3_s16x2, int16_t, simt::larger(simt::larger(x, y), z))
SIMT_LANES_3(__vimin3_s16x2, int16_t, simt::smaller(simt::smaller(x, y), z))
SIMT_LANES_3(__vimax3_s16x2_relu, int16_t, simt::larger(simt::larger(simt::larger(x, y), z), 0))
SIMT_LANES_3(__vimin3_s16x2_relu, int16_t, simt::larger(simt::smaller(simt::smaller(x, y), z), 0))
SIMT_LANES_3(__vimax3_u16x2, uint16_t, simt::larger(simt::larger(x, y), z))
SIMT_LANES_3(__vimin3_u16x2, uint16_t, simt::smaller(simt::smaller(x, y), z))
SIMT_LANES_2(__vimax_s16x2_relu, int16_t, simt::larger(simt::larger(x, y), 0))
SIMT_LANES_2(__vimin_s16x2_relu, int16_t, simt::larger(simt::smaller(x, y), 0))
#undef SIMT_WORDS
#undef SIMT_COMPARED
#undef SIMT_LANES_1
#undef SIMT_LANES_2
#undef SIMT_LANES_3

constexpr int __viaddmax_s32(int a, int b, int c) {
    return simt::larger(simt::wrapping_sum(a, b), c);
}
constexpr int __viaddmin_s32(int a, int b, int c) {
    return simt::smaller(simt::wrapping_sum(a, b), c);
}
constexpr int __viaddmax_s32_relu(int a, int b, int c) {
    return simt::larger(__viaddmax_s32(a, b, c), 0);
}
constexpr int __viaddmin_s32_relu(int a, int b, int c) {
    return simt::larger(__viaddmin_s32(a, b, c), 0);
}
constexpr unsigned int __viaddmax_u32(unsigned int a, unsigned int b, unsigned int c) {
    return a + b < c ? c : a + b;
}
constexpr unsigned int __viaddmin_u32(unsigned int a, unsigned int b, unsigned int c) {
    return a + b < c ? a + b : c;
}
constexpr int __vimax_s32_relu(int a, int b) {
    return simt::larger(simt::larger(a, b), 0);
}
constexpr int __vimin_s32_relu(int a, int b) {
    return simt::larger(simt::smaller(a, b), 0);
}
constexpr int __vimax3_s32(int a, int b, int c) {
    return simt::larger(simt::larger(a, b), c);
}
constexpr int __vimin3_s32(int a, int b, int c) {
    return simt::smaller(simt::smaller(a, b), c);
}
constexpr int __vimax3_s32_relu(int a, int b, int c) {
    return simt::larger(__vimax3_s32(a, b, c), 0);
}
constexpr int __vimin3_s32_relu(int a, int b, int c) {
    return simt::larger(__vimin3_s32(a, b, c), 0);
}
constexpr unsigned int __vimax3_u32(unsigned int a, unsigned int b, unsigned int c) {
    return a < b ? (b < c ? c : b) : (a < c ? c : a);
}
constexpr unsigned int __vimin3_u32(unsigned int a, unsigned int b, unsigned int c) {
    return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

namespace simt {
// Adds to `sum` the products of `count` lanes: of type A in a, and of type B in b, from its lane `from` on.
template <class A, class B, int count>
constexpr unsigned int dot(unsigned int a, unsigned int b, unsigned int sum, int from) {
    for (int i = 0; i < count; i++) {
        sum += static_cast<unsigned int>(int{static_cast<A>(a >> (8 * sizeof(A) * i))} *
                                         int{static_cast<B>(b >> (8 * sizeof(B) * (i + from)))});
    }
    return sum;
}
template <class Vector>
SIMT_INLINE unsigned int word_of(Vector vector) {
    static_assert(sizeof vector == 4);
    return __builtin_bit_cast(unsigned int, vector);
}
}  // namespace simt

#define SIMT_DOT(name, A, B, Signed, VectorA, VectorB, count, from)                                           \
    constexpr Signed name(Signed a, Signed b, Signed c) {                                                     \
        return static_cast<Signed>(simt::dot<std::A, std::B, count>(                                          \
            static_cast<unsigned int>(a), static_cast<unsigned int>(b), static_cast<unsigned int>(c), from)); \
    }                                                                                                         \
    SIMT_INLINE Signed name(VectorA a, VectorB b, Signed c) {                                                 \
        return name(static_cast<Signed>(simt::word_of(a)), static_cast<Signed>(simt::word_of(b)), c);         \
    }
SIMT_DOT(__dp4a, int8_t, int8_t, int, char4, char4, 4, 0)
SIMT_DOT(__dp4a, uint8_t, uint8_t, unsigned int, uchar4, uchar4, 4, 0)
SIMT_DOT(__dp2a_lo, int16_t, int8_t, int, short2, char4, 2, 0)
SIMT_DOT(__dp2a_lo, uint16_t, uint8_t, unsigned int, ushort2, uchar4, 2, 0)
SIMT_DOT(__dp2a_hi, int16_t, int8_t, int, short2, char4, 2, 2)
SIMT_DOT(__dp2a_hi, uint16_t, uint8_t, unsigned int, ushort2, uchar4, 2, 2)
#undef SIMT_DOT
