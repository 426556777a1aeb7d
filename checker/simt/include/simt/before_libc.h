// SPDX-License-Identifier: MIT
//
// First of all includes: names under which the C library's functions reach the runtime, so that what a kernel copies
// or prints through them is checked too. Host code gets the library's own behaviour.
//
// SIMT_HARNESS leaves them out: code that is linked with the runtime may share inline functions with it, of which the
// linker keeps one, and the runtime's own copies are nobody's accesses.
#pragma once
#pragma GCC system_header

#include <stddef.h>

#ifndef SIMT_HARNESS
extern "C" {
void* memcpy(void*, const void*, size_t) noexcept __asm__("simt_memcpy");
void* memmove(void*, const void*, size_t) noexcept __asm__("simt_memmove");
void* memset(void*, int, size_t) noexcept __asm__("simt_memset");
int printf(const char*, ...) __asm__("simt_printf");
int puts(const char*) __asm__("simt_puts");
int putchar(int) __asm__("simt_putchar");
[[noreturn]] void __assert_fail(const char*, const char*, unsigned int, const char*) noexcept
    __asm__("simt_assert_fail");
[[noreturn]] void abort() noexcept;
}
#endif
