// SPDX-License-Identifier: MIT
//
// Integer and bit functions, and casts between numbers and their bits.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>

#include "bits_of.h"

namespace simt {

// Returns the offset of an address in the running block's shared memory, which fits into 32 bits and is the same for a
// variable in each block of a launch; any other address as it is.
std::size_t shared_offset(const void* address);
// Returns the address of an offset in the running block's shared memory; an address that is no such offset as it is.
void* shared_address(std::size_t offset);

}  // namespace simt

constexpr int __popc(unsigned int x) {
    return simt::popcount(x);
}
constexpr int __popcll(unsigned long long x) {
    return simt::popcount(x);
}
constexpr int __clz(int x) {
    return simt::countl_zero(static_cast<unsigned int>(x));
}
constexpr int __clzll(long long x) {
    return simt::countl_zero(static_cast<unsigned long long>(x));
}
constexpr int __ffs(int x) {
    return x == 0 ? 0 : simt::countr_zero(static_cast<unsigned int>(x)) + 1;
}
constexpr int __ffsll(long long x) {
    return x == 0 ? 0 : simt::countr_zero(static_cast<unsigned long long>(x)) + 1;
}
constexpr unsigned int __brev(unsigned int x) {
    unsigned int reversed = 0;
    for (int i = 0; i < 32; i++) { reversed |= ((x >> i) & 1U) << (31 - i); }
    return reversed;
}
constexpr unsigned long long __brevll(unsigned long long x) {
    return (static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32) |
           __brev(static_cast<unsigned int>(x >> 32));
}

// Four bytes chosen from the eight of y:x; bit 3 of a selector spreads the byte's sign.
constexpr unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selectors) {
    const std::uint64_t bytes = (static_cast<std::uint64_t>(y) << 32) | x;
    unsigned int result = 0;
    for (unsigned int i = 0; i < 4; i++) {
        const unsigned int selector = (selectors >> (4 * i)) & 0xfU;
        unsigned int byte = static_cast<unsigned int>(bytes >> (8 * (selector & 7U))) & 0xffU;
        byte = (selector & 8U) != 0 ? ((byte & 0x80U) != 0 ? 0xffU : 0U) : byte;
        result |= byte << (8 * i);
    }
    return result;
}
constexpr unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    return static_cast<unsigned int>((((static_cast<std::uint64_t>(high) << 32) | low) << (shift & 31U)) >> 32);
}
constexpr unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return static_cast<unsigned int>(((static_cast<std::uint64_t>(high) << 32) | low) >> (shift & 31U));
}
constexpr unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
constexpr unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

constexpr int __mulhi(int x, int y) {
    return static_cast<int>((static_cast<std::int64_t>(x) * y) >> 32);
}
constexpr unsigned int __umulhi(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<std::uint64_t>(x) * y) >> 32);
}
constexpr long long __mul64hi(long long x, long long y) {
    return static_cast<long long>((static_cast<__int128>(x) * y) >> 64);
}
constexpr unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
// The product of the low 24 bits.
constexpr int __mul24(int x, int y) {
    return static_cast<int>(static_cast<unsigned int>((x << 8) >> 8) * static_cast<unsigned int>((y << 8) >> 8));
}
constexpr unsigned int __umul24(unsigned int x, unsigned int y) {
    return (x & 0xffffffU) * (y & 0xffffffU);
}
constexpr unsigned int __sad(int x, int y, unsigned int z) {
    return z + (x > y ? static_cast<unsigned int>(x) - static_cast<unsigned int>(y)
                      : static_cast<unsigned int>(y) - static_cast<unsigned int>(x));
}
constexpr unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
    return z + (x > y ? x - y : y - x);
}
constexpr int __hadd(int x, int y) {
    return static_cast<int>((static_cast<std::int64_t>(x) + y) >> 1);
}
constexpr int __rhadd(int x, int y) {
    return static_cast<int>((static_cast<std::int64_t>(x) + y + 1) >> 1);
}
constexpr unsigned int __uhadd(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<std::uint64_t>(x) + y) >> 1);
}
constexpr unsigned int __urhadd(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>((static_cast<std::uint64_t>(x) + y + 1) >> 1);
}

// The place of the bit in mask that is the offset-th from `base` on, which counts itself; downwards if it is negative.
constexpr unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    if (offset == 0) {
        return base < 32 && ((mask >> base) & 1U) != 0 ? base : ~0U;
    }
    const int step = offset > 0 ? 1 : -1;
    for (int at = static_cast<int>(base), left = offset * step; at >= 0 && at < 32; at += step) {
        if (((mask >> at) & 1U) != 0 && --left == 0) {
            return static_cast<unsigned int>(at);
        }
    }
    return ~0U;
}

// Addresses within one kind of memory, for inline PTX. In shared memory they are offsets; elsewhere an address is the same
// in all kinds.
inline std::size_t __cvta_generic_to_shared(const void* pointer) {
    return simt::shared_offset(pointer);
}
inline void* __cvta_shared_to_generic(std::size_t address) {
    return simt::shared_address(address);
}
#define SIMT_ADDRESSES(kind)                                           \
    inline std::size_t __cvta_generic_to_##kind(const void* pointer) { \
        return reinterpret_cast<std::size_t>(pointer);                 \
    }                                                                  \
    inline void* __cvta_##kind##_to_generic(std::size_t address) {     \
        return reinterpret_cast<void*>(address);                       \
    }
SIMT_ADDRESSES(global)
SIMT_ADDRESSES(constant)
SIMT_ADDRESSES(local)
SIMT_ADDRESSES(grid_constant)
#undef SIMT_ADDRESSES

constexpr int __float_as_int(float x) {
    return simt::bit_cast<int>(x);
}
constexpr unsigned int __float_as_uint(float x) {
    return simt::bit_cast<unsigned int>(x);
}
constexpr float __int_as_float(int x) {
    return simt::bit_cast<float>(x);
}
constexpr float __uint_as_float(unsigned int x) {
    return simt::bit_cast<float>(x);
}
constexpr long long __double_as_longlong(double x) {
    return simt::bit_cast<long long>(x);
}
constexpr double __longlong_as_double(long long x) {
    return simt::bit_cast<double>(x);
}
constexpr int __double2hiint(double x) {
    return static_cast<int>(simt::bit_cast<std::uint64_t>(x) >> 32);
}
constexpr int __double2loint(double x) {
    return static_cast<int>(simt::bit_cast<std::uint64_t>(x));
}
constexpr double __hiloint2double(int high, int low) {
    return simt::bit_cast<double>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32) |
                                  static_cast<std::uint32_t>(low));
}
