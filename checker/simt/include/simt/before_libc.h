// SPDX-License-Identifier: MIT
//
// To be included before everything else. It gives the C library's functions names that lead to the runtime, so that
// what a kernel copies, prints or allocates through them is checked too, and the special functions that it evaluates are
// counted. Host code gets the library's own behaviour.
//
// SIMT_HARNESS leaves them out: code that is linked with the runtime may share inline functions with it, the linker
// keeps only one of them, and what the runtime itself copies is not a kernel's access.
#pragma once
#pragma GCC system_header

#ifndef __cplusplus
#error "the CPU device's headers are C++: give this file the ending .cu or .cpp"
#endif

#include <stddef.h>

#include "special_functions.h"

#ifndef SIMT_HARNESS
extern "C" {
void* memcpy(void*, const void*, size_t) noexcept __asm__("simt_memcpy");
void* memmove(void*, const void*, size_t) noexcept __asm__("simt_memmove");
void* memset(void*, int, size_t) noexcept __asm__("simt_memset");
int printf(const char*, ...) __asm__("simt_printf");
int puts(const char*) __asm__("simt_puts");
int putchar(int) __asm__("simt_putchar");
void* malloc(size_t) noexcept __asm__("simt_malloc");
void free(void*) noexcept __asm__("simt_free");
long clock() noexcept __asm__("simt_clock");
[[noreturn]] void __assert_fail(const char*, const char*, unsigned int, const char*) noexcept
    __asm__("simt_assert_fail");
[[noreturn]] void abort() noexcept;
void* simt_memcpy(void*, const void*, size_t) noexcept;
void* simt_memmove(void*, const void*, size_t) noexcept;
void* simt_memset(void*, int, size_t) noexcept;

// For a size that it knows, the compiler emits code that no hook sees, except for the sizes for which it emits an
// assignment.
#define SIMT_ASSIGNED(bytes) \
    (__builtin_constant_p(bytes) && ((bytes) == 1 || (bytes) == 2 || (bytes) == 4 || (bytes) == 8))
#define SIMT_SEEN extern inline __attribute__((gnu_inline, always_inline))
SIMT_SEEN void* memcpy(void* to, const void* from, size_t bytes) noexcept {
    return SIMT_ASSIGNED(bytes) ? __builtin_memcpy(to, from, bytes) : simt_memcpy(to, from, bytes);
}
SIMT_SEEN void* memmove(void* to, const void* from, size_t bytes) noexcept {
    return SIMT_ASSIGNED(bytes) ? __builtin_memmove(to, from, bytes) : simt_memmove(to, from, bytes);
}
SIMT_SEEN void* memset(void* to, int value, size_t bytes) noexcept {
    return simt_memset(to, value, bytes);
}
#undef SIMT_ASSIGNED
}
#if __GNUC__ >= 12
void* operator new(size_t) __asm__("simt_new");
void* operator new[](size_t) __asm__("simt_new_array");
void operator delete(void*) noexcept __asm__("simt_delete");
void operator delete(void*, size_t) noexcept __asm__("simt_delete_sized");
void operator delete[](void*) noexcept __asm__("simt_delete_array");
void operator delete[](void*, size_t) noexcept __asm__("simt_delete_array_sized");
#else  // where it takes the names of these operators apart, and crashes at others
extern "C" {
void* simt_new(size_t);
void* simt_new_array(size_t);
void simt_delete(void*) noexcept;
void simt_delete_array(void*) noexcept;
}
SIMT_SEEN void* operator new(size_t bytes) {
    return simt_new(bytes);
}
SIMT_SEEN void* operator new[](size_t bytes) {
    return simt_new_array(bytes);
}
SIMT_SEEN void operator delete(void* memory) noexcept {
    simt_delete(memory);
}
SIMT_SEEN void operator delete(void* memory, size_t) noexcept {
    simt_delete(memory);
}
SIMT_SEEN void operator delete[](void* memory) noexcept {
    simt_delete_array(memory);
}
SIMT_SEEN void operator delete[](void* memory, size_t) noexcept {
    simt_delete_array(memory);
}
#endif

#ifndef __SIMT_UNCHECKED__
// They stay what g++ knows by these names: std::exp is the same, and a constant is folded.
extern "C" {
#define SIMT_ONE(name)                                   \
    double name(double) noexcept __asm__("simt_" #name); \
    float name##f(float) noexcept __asm__("simt_" #name "f");
#define SIMT_TWO(name)                                           \
    double name(double, double) noexcept __asm__("simt_" #name); \
    float name##f(float, float) noexcept __asm__("simt_" #name "f");
SIMT_SPECIAL_FUNCTIONS(SIMT_ONE, SIMT_TWO)
#undef SIMT_ONE
#undef SIMT_TWO
#define SIMT_SINE_AND_COSINE(T, name)                             \
    void name(T, T*, T*) noexcept __asm__("simt_" #name);         \
    void simt_##name(T, T*, T*) noexcept;                         \
    SIMT_SEEN void name(T x, T* to_sine, T* to_cosine) noexcept { \
        T sine, cosine;                                           \
        simt_##name(x, &sine, &cosine);                           \
        *to_sine = sine;                                          \
        *to_cosine = cosine;                                      \
    }
SIMT_SINE_AND_COSINE(double, sincos)
SIMT_SINE_AND_COSINE(float, sincosf)
#undef SIMT_SINE_AND_COSINE
}
// For a sine and a cosine of one number g++ calls these two by itself.
__asm__(".weakref sincos, simt_sincos\n.weakref sincosf, simt_sincosf");
#endif
#undef SIMT_SEEN
#endif
