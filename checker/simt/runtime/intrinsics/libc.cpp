// SPDX-License-Identifier: MIT
//
// The C library's functions, under the names by which code compiled with simtcc reaches them
// (checker/simt/include/simt/before_libc.h).
#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "checker/simt/include/simt/clock.h"
#include "checker/simt/runtime/access/access.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/heap.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/orders.h"
#include "checker/simt/runtime/streams/streams.h"
#include "checker/simt/runtime/threads/scheduler.h"

#define SIMT_SITE __builtin_return_address(0)

namespace simt {
namespace {

// Of the host's accesses, those to memory that streams may touch too; the rest is left to the fault handler.
void watch_access(const void* address, std::size_t bytes, Access access, const void* site) {
    if (running_lane() != nullptr) {
        judge_span(address, bytes, access, site);
    } else if (hot.checking && Streams::instance().watches_host()) {
        Streams::instance().host_access(reinterpret_cast<std::uintptr_t>(address), bytes,
                                        access == Access::read ? Use::read : Use::write, site);
    }
}

// What the runtime itself allocates while a thread runs is the host's.
bool is_kernels() {
    return running_lane() != nullptr && busy_depth == 0;
}

}  // namespace
}  // namespace simt

extern "C" {

void* simt_malloc(std::size_t bytes) noexcept {
    return simt::is_kernels() ? simt::allocate_from_heap(bytes, SIMT_SITE) : std::malloc(bytes);
}

void simt_free(void* memory) noexcept {
    simt::is_kernels() ? simt::free_to_heap(memory, SIMT_SITE) : std::free(memory);
}

// Weak: a program may have an operator new of its own.
[[gnu::weak]] void* simt_new(std::size_t bytes) {
    return simt::is_kernels() ? simt::allocate_from_heap(std::max<std::size_t>(bytes, 1), SIMT_SITE)
                              : ::operator new(bytes);
}

[[gnu::weak]] void* simt_new_array(std::size_t bytes) {
    return simt::is_kernels() ? simt::allocate_from_heap(std::max<std::size_t>(bytes, 1), SIMT_SITE)
                              : ::operator new[](bytes);
}

[[gnu::weak]] void simt_delete(void* memory) noexcept {
    simt::is_kernels() ? simt::free_to_heap(memory, SIMT_SITE) : ::operator delete(memory);
}

[[gnu::weak]] void simt_delete_sized(void* memory, std::size_t) noexcept {
    simt::is_kernels() ? simt::free_to_heap(memory, SIMT_SITE) : ::operator delete(memory);
}

[[gnu::weak]] void simt_delete_array(void* memory) noexcept {
    simt::is_kernels() ? simt::free_to_heap(memory, SIMT_SITE) : ::operator delete[](memory);
}

[[gnu::weak]] void simt_delete_array_sized(void* memory, std::size_t) noexcept {
    simt::is_kernels() ? simt::free_to_heap(memory, SIMT_SITE) : ::operator delete[](memory);
}

clock_t simt_clock() noexcept {
    return simt::running_lane() != nullptr ? static_cast<clock_t>(clock64()) : std::clock();
}

void* simt_memcpy(void* to, const void* from, std::size_t bytes) noexcept {
    simt::watch_access(from, bytes, simt::Access::read, SIMT_SITE);
    simt::watch_access(to, bytes, simt::Access::write, SIMT_SITE);
    return std::memmove(to, from, bytes);
}

void* simt_memmove(void* to, const void* from, std::size_t bytes) noexcept {
    simt::watch_access(from, bytes, simt::Access::read, SIMT_SITE);
    simt::watch_access(to, bytes, simt::Access::write, SIMT_SITE);
    return std::memmove(to, from, bytes);
}

void* simt_memset(void* to, int value, std::size_t bytes) noexcept {
    simt::watch_access(to, bytes, simt::Access::write, SIMT_SITE);
    return std::memset(to, value, bytes);
}

int simt_printf(const char* format, ...) {
    simt::hot.site = SIMT_SITE;
    const simt::InRuntime in_runtime;
    va_list arguments;
    va_start(arguments, format);
    const int printed = simt::Orders::instance().again() ? std::vsnprintf(nullptr, 0, format, arguments)
                                                         : std::vprintf(format, arguments);
    va_end(arguments);
    return printed;
}

int simt_puts(const char* text) {
    simt::hot.site = SIMT_SITE;
    const simt::InRuntime in_runtime;
    return simt::Orders::instance().again() ? 0 : std::puts(text);
}

int simt_putchar(int character) {
    simt::hot.site = SIMT_SITE;
    const simt::InRuntime in_runtime;
    return simt::Orders::instance().again() ? character : std::putchar(character);
}

[[noreturn]] void simt_assert_fail(const char* expression, const char* file, unsigned int line,
                                   const char* function) noexcept {
    if (simt::running_lane() == nullptr) {
        __assert_fail(expression, file, line, function);
    }
    simt::report(simt::Kind::assertion, "", simt::SourceLine{file, static_cast<int>(line), ""},
                 [&] { return fmt::format("assert({}) does not hold", expression); });
    simt::Scheduler::instance().abandon(cudaErrorAssert);
}

}  // extern "C"
