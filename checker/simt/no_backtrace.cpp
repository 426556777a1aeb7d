// SPDX-License-Identifier: MIT
//
// Stands in for libbacktrace where g++ has none: no address has a line.
#include "checker/simt/runtime/base/libbacktrace.h"

extern "C" {
backtrace_state* backtrace_create_state(const char*, int, backtrace_error_callback, void*) {
    return nullptr;
}
int backtrace_simple(backtrace_state*, int, backtrace_simple_callback, backtrace_error_callback, void*) {
    return 0;
}
int backtrace_pcinfo(backtrace_state*, std::uintptr_t, backtrace_full_callback, backtrace_error_callback, void*) {
    return 0;
}
}
