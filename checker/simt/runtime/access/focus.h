// SPDX-License-Identifier: MIT
//
// The one CUDA thread that somebody wants to look at. A debugger stops in the thread that SIMT_STOP names; the
// accesses of the thread that SIMT_TRACE names are printed. Both are KERNEL:BLOCK:THREAD, as in scale:2,0:17. The
// kernel may be left out; a block or a thread that is left out is the first one; a single number counts along x first.
// The thread is taken from the first launch of the kernel that has such a block and thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "checker/simt/runtime/base/access_kind.h"

namespace simt {

struct LaunchObserver;

// Whether the running launch has the thread; whether that thread is running and its accesses are to be printed.
extern constinit bool focus_launch;
extern constinit bool tracing;

bool focus_launch_is_over();
extern const LaunchObserver focus_observer;

// Called by the traced thread. Each prints what came before it, since its value is known now.
void trace_access(std::uintptr_t address, std::size_t bytes, Access access, const void* site);
void trace_wait(std::string_view what, const void* site);

}  // namespace simt
