// SPDX-License-Identifier: MIT
//
// What the runtime calls of libbacktrace, whose header comes with g++ on some systems only.
#pragma once

#if __has_include(<backtrace.h>)
#include <backtrace.h>
#else
#include <cstdint>

struct backtrace_state;
extern "C" {
using backtrace_error_callback = void (*)(void* data, const char* message, int error);
using backtrace_full_callback = int (*)(void* data, std::uintptr_t pc, const char* file, int line,
                                        const char* function);
using backtrace_simple_callback = int (*)(void* data, std::uintptr_t pc);

backtrace_state* backtrace_create_state(const char* program, int threaded, backtrace_error_callback error, void* data);
int backtrace_simple(backtrace_state* state, int skip, backtrace_simple_callback callback,
                     backtrace_error_callback error, void* data);
int backtrace_pcinfo(backtrace_state* state, std::uintptr_t pc, backtrace_full_callback callback,
                     backtrace_error_callback error, void* data);
}
#endif
