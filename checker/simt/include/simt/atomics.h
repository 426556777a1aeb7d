// SPDX-License-Identifier: MIT
//
// Atomics. Each gives the value that was there before.
#pragma once
#pragma GCC system_header

#include "judged.h"

namespace simt {

enum class Atomic { add, subtract, exchange, minimum, maximum, increment, decrement, bit_and, bit_or, bit_xor };
enum class Scope { block, device, system };

// Defined in the runtime for the types below.
template <class T>
T atomic(Atomic operation, T* address, T operand, Scope scope, bool judged = SIMT_JUDGED);
template <class T>
T compare_and_swap(T* address, T expected, T desired, Scope scope, bool judged = SIMT_JUDGED);

}  // namespace simt

inline int atomicAdd(int* address, int value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::device);
}
inline unsigned int atomicAdd(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::device);
}
inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::device);
}
inline float atomicAdd(float* address, float value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::device);
}
inline double atomicAdd(double* address, double value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::device);
}
inline int atomicSub(int* address, int value) {
    return simt::atomic(simt::Atomic::subtract, address, value, simt::Scope::device);
}
inline unsigned int atomicSub(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::subtract, address, value, simt::Scope::device);
}
inline int atomicExch(int* address, int value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::device);
}
inline unsigned int atomicExch(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::device);
}
inline unsigned long long atomicExch(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::device);
}
inline float atomicExch(float* address, float value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::device);
}
inline int atomicMin(int* address, int value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::device);
}
inline unsigned int atomicMin(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::device);
}
inline long long atomicMin(long long* address, long long value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::device);
}
inline unsigned long long atomicMin(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::device);
}
inline int atomicMax(int* address, int value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::device);
}
inline unsigned int atomicMax(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::device);
}
inline long long atomicMax(long long* address, long long value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::device);
}
inline unsigned long long atomicMax(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::device);
}
inline unsigned int atomicInc(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::increment, address, value, simt::Scope::device);
}
inline unsigned int atomicDec(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::decrement, address, value, simt::Scope::device);
}
inline int atomicAnd(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::device);
}
inline unsigned int atomicAnd(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::device);
}
inline unsigned long long atomicAnd(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::device);
}
inline int atomicOr(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::device);
}
inline unsigned int atomicOr(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::device);
}
inline unsigned long long atomicOr(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::device);
}
inline int atomicXor(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::device);
}
inline unsigned int atomicXor(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::device);
}
inline unsigned long long atomicXor(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::device);
}
inline int atomicCAS(int* address, int expected, int desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::device);
}
inline unsigned int atomicCAS(unsigned int* address, unsigned int expected, unsigned int desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::device);
}
inline unsigned long long atomicCAS(unsigned long long* address, unsigned long long expected,
                                    unsigned long long desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::device);
}
inline unsigned short atomicCAS(unsigned short* address, unsigned short expected, unsigned short desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::device);
}
inline int atomicAdd_block(int* address, int value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::block);
}
inline unsigned int atomicAdd_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::block);
}
inline unsigned long long atomicAdd_block(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::block);
}
inline float atomicAdd_block(float* address, float value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::block);
}
inline double atomicAdd_block(double* address, double value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::block);
}
inline int atomicSub_block(int* address, int value) {
    return simt::atomic(simt::Atomic::subtract, address, value, simt::Scope::block);
}
inline unsigned int atomicSub_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::subtract, address, value, simt::Scope::block);
}
inline int atomicExch_block(int* address, int value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::block);
}
inline unsigned int atomicExch_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::block);
}
inline unsigned long long atomicExch_block(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::block);
}
inline float atomicExch_block(float* address, float value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::block);
}
inline int atomicMin_block(int* address, int value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::block);
}
inline unsigned int atomicMin_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::block);
}
inline long long atomicMin_block(long long* address, long long value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::block);
}
inline unsigned long long atomicMin_block(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::block);
}
inline int atomicMax_block(int* address, int value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::block);
}
inline unsigned int atomicMax_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::block);
}
inline long long atomicMax_block(long long* address, long long value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::block);
}
inline unsigned long long atomicMax_block(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::block);
}
inline unsigned int atomicInc_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::increment, address, value, simt::Scope::block);
}
inline unsigned int atomicDec_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::decrement, address, value, simt::Scope::block);
}
inline int atomicAnd_block(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::block);
}
inline unsigned int atomicAnd_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::block);
}
inline unsigned long long atomicAnd_block(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::block);
}
inline int atomicOr_block(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::block);
}
inline unsigned int atomicOr_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::block);
}
inline unsigned long long atomicOr_block(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::block);
}
inline int atomicXor_block(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::block);
}
inline unsigned int atomicXor_block(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::block);
}
inline unsigned long long atomicXor_block(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::block);
}
inline int atomicCAS_block(int* address, int expected, int desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::block);
}
inline unsigned int atomicCAS_block(unsigned int* address, unsigned int expected, unsigned int desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::block);
}
inline unsigned long long atomicCAS_block(unsigned long long* address, unsigned long long expected,
                                          unsigned long long desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::block);
}
inline unsigned short atomicCAS_block(unsigned short* address, unsigned short expected, unsigned short desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::block);
}
inline int atomicAdd_system(int* address, int value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::system);
}
inline unsigned int atomicAdd_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::system);
}
inline unsigned long long atomicAdd_system(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::system);
}
inline float atomicAdd_system(float* address, float value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::system);
}
inline double atomicAdd_system(double* address, double value) {
    return simt::atomic(simt::Atomic::add, address, value, simt::Scope::system);
}
inline int atomicSub_system(int* address, int value) {
    return simt::atomic(simt::Atomic::subtract, address, value, simt::Scope::system);
}
inline unsigned int atomicSub_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::subtract, address, value, simt::Scope::system);
}
inline int atomicExch_system(int* address, int value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::system);
}
inline unsigned int atomicExch_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::system);
}
inline unsigned long long atomicExch_system(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::system);
}
inline float atomicExch_system(float* address, float value) {
    return simt::atomic(simt::Atomic::exchange, address, value, simt::Scope::system);
}
inline int atomicMin_system(int* address, int value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::system);
}
inline unsigned int atomicMin_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::system);
}
inline long long atomicMin_system(long long* address, long long value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::system);
}
inline unsigned long long atomicMin_system(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::minimum, address, value, simt::Scope::system);
}
inline int atomicMax_system(int* address, int value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::system);
}
inline unsigned int atomicMax_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::system);
}
inline long long atomicMax_system(long long* address, long long value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::system);
}
inline unsigned long long atomicMax_system(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::maximum, address, value, simt::Scope::system);
}
inline unsigned int atomicInc_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::increment, address, value, simt::Scope::system);
}
inline unsigned int atomicDec_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::decrement, address, value, simt::Scope::system);
}
inline int atomicAnd_system(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::system);
}
inline unsigned int atomicAnd_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::system);
}
inline unsigned long long atomicAnd_system(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_and, address, value, simt::Scope::system);
}
inline int atomicOr_system(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::system);
}
inline unsigned int atomicOr_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::system);
}
inline unsigned long long atomicOr_system(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_or, address, value, simt::Scope::system);
}
inline int atomicXor_system(int* address, int value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::system);
}
inline unsigned int atomicXor_system(unsigned int* address, unsigned int value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::system);
}
inline unsigned long long atomicXor_system(unsigned long long* address, unsigned long long value) {
    return simt::atomic(simt::Atomic::bit_xor, address, value, simt::Scope::system);
}
inline int atomicCAS_system(int* address, int expected, int desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::system);
}
inline unsigned int atomicCAS_system(unsigned int* address, unsigned int expected, unsigned int desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::system);
}
inline unsigned long long atomicCAS_system(unsigned long long* address, unsigned long long expected,
                                           unsigned long long desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::system);
}
inline unsigned short atomicCAS_system(unsigned short* address, unsigned short expected, unsigned short desired) {
    return simt::compare_and_swap(address, expected, desired, simt::Scope::system);
}
