// SPDX-License-Identifier: MIT
//
// The join of what nvcc emits with what the CPU device counts: how often each region runs, and so what a launch issues.
#pragma once

#include <vector>

#include "checker/estimate/counts.h"
#include "checker/estimate/sass.h"

namespace checker::estimate {

// What a launch issues, over all its warps. Both take a launch with all of its blocks (of_one_launch).
struct Work {
    Instructions instructions;
    double quarters_32 = 0, quarters_16 = 0;  // of L1 and shared memory
    double wavefronts = 0;                    // of both
    double shared_part = 0;                   // of the quarter-cycles, from 0 to 1
    double loads = 0;                         // requests that load global memory
    double waits = 0;                         // how often its warps wait for loads of global memory
    bool from_sass = false;
};

// How often each region runs, over all warps.
std::vector<double> executions(const LaunchCounts& launch, const KernelSass& sass);

// Without SASS, of the source's own accesses and operations.
Work work_of(const LaunchCounts& launch, const KernelSass* sass);

}  // namespace checker::estimate
