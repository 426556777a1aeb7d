// SPDX-License-Identifier: MIT
//
// The one CUDA thread that somebody wants to look at: SIMT_STOP is where a debugger stops, SIMT_TRACE whose accesses are
// printed. Both are KERNEL:BLOCK:THREAD, as in scale:2,0:17. The kernel may be left out, a block and a thread that are
// left out are the first, and one number counts them in x first. It is the first launch of the kernel that has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "checker/simt/runtime/access.h"

namespace simt {

struct Launch;
struct Lane;
struct Collective;

// Whether the launch that runs has the thread, and whether it is the running one and its accesses are to be printed.
extern constinit bool chosen_launch;
extern constinit bool tracing;

bool stops_in_a_thread();  // SIMT_STOP: nothing is checked, and nothing takes too long
bool chosen_launch_is_over();
void look_for_chosen(const Launch& launch);
void end_chosen_launch();

// Around each turn of a lane of the chosen launch.
void turn_to_chosen(const Lane& lane);
void turn_from_chosen(const Lane& lane);

// Of the thread that is traced. Each prints what came before it, whose value is known now.
void trace_access(std::uintptr_t address, std::size_t bytes, Access access, const void* site);
void trace_wait(std::string_view what, const void* site);
void trace_collective(const Lane& lane, const Collective& request);

}  // namespace simt
