// SPDX-License-Identifier: MIT
//
// Whether what a call of the runtime does to memory is judged. Code without hooks says nothing of what else it writes, so
// that of it nothing is: what its atomics read would pass for memory that nobody wrote.
#pragma once
#pragma GCC system_header

#ifdef __SIMT_UNCHECKED__
#define SIMT_JUDGED false
#else
#define SIMT_JUDGED true
#endif
