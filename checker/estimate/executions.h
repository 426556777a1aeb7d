// SPDX-License-Identifier: MIT
//
// The join of what nvcc emits with what the CPU device counts: how often each region runs, and so what is issued.
#pragma once

#include <vector>

#include "checker/estimate/counts.h"
#include "checker/estimate/sass.h"

namespace checker::estimate {

// What a launch issues, over all its warps.
struct Work {
    Instructions instructions;
    double quarters_32 = 0, quarters_16 = 0;                // of L1 and shared memory
    double shared_quarters_32 = 0, shared_quarters_16 = 0;  // of these, shared memory's
    double wavefronts = 0;
    double loads = 0;  // requests that load global memory, as emitted
    double waits = 0;  // of a warp: how often it waits for loads of global memory
    bool from_sass = false;
};

// How often each region runs, over all warps of the launch.
std::vector<double> executions(const LaunchCounts& launch, const KernelSass& sass);

// Without SASS the source's own accesses and operations.
Work work_of(const LaunchCounts& launch, const KernelSass* sass);

}  // namespace checker::estimate
