// SPDX-License-Identifier: MIT
//
// Time as a kernel sees it.
#pragma once
#pragma GCC system_header

extern "C" {
long long clock64();                         // cycles of 1 GHz
void __nanosleep(unsigned int nanoseconds);  // the other threads run meanwhile
[[noreturn]] void __trap();
void __brkpt();
}
