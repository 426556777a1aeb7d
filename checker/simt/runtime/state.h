// SPDX-License-Identifier: MIT
//
// What a runtime must keep between two calls: the last errors, the seed, whether the runtime's own code is at work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/source.h"

namespace simt {

// SIMT_SEED, 1 without it, or what was set last: the order in which blocks and warps run.
std::uint64_t seed();
void set_seed(std::uint64_t seed);

// SIMT_TIME_LIMIT in seconds, 8 without it: how long a thread may run, or threads poll, without coming to an end.
double time_limit();

// While one lives the clock's signal lets the running thread be: it holds locks of the runtime or of the C library.
extern volatile int busy_depth;
struct Busy {
    Busy() { busy_depth = busy_depth + 1; }
    ~Busy() { busy_depth = busy_depth - 1; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
};

// What an API function returns: `error`, or the sticky one. Remembers it for cudaGetLastError.
cudaError_t result(cudaError_t error);
// The error of a launch, which no function returns. A sticky one stays with the process, as CUDA documents.
void launch_failed(cudaError_t error, bool sticky, const SourceLine& launch);

// The error of a launch that nobody has looked at becomes a finding. Whether there is a sticky error.
void report_unchecked_error();
bool has_sticky_error();

// Memory that was never freed becomes a finding.
void report_leaks();

}  // namespace simt
