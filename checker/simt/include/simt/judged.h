// SPDX-License-Identifier: MIT
//
// Whether the runtime judges what a call of it does to memory. Code without hooks does not tell what else it writes,
// and so none of its calls are judged: its atomics would seem to read memory that nobody has written.
#pragma once
#pragma GCC system_header

#ifdef __SIMT_UNCHECKED__
#define SIMT_JUDGED false
#else
#define SIMT_JUDGED true
#endif

// Whether the kernel's floating-point instructions are counted: simtcc --arithmetic.
#ifdef __SIMT_ARITHMETIC__
#define SIMT_COUNTS_ARITHMETIC true
#else
#define SIMT_COUNTS_ARITHMETIC false
#endif
