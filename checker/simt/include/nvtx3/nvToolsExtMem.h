// SPDX-License-Identifier: MIT
//
// Marks of heaps and regions of memory for a profiler, which nothing reads here: the header is there, and has no more
// than nvToolsExt.h.
#pragma once
#pragma GCC system_header

#include "nvToolsExt.h"
