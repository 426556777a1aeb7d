// SPDX-License-Identifier: MIT
//
// Where the scheduler puts the counts of launches.
#pragma once

#include <cstdint>

#include "checker/simt/runtime/scheduler.h"
#include "checker/simt/runtime/traffic_trace.h"

namespace simt {

// A launch is over; so many of its blocks have run.
void note_traffic(const Launch& launch, std::uint64_t blocks_run, LaunchTrace trace);

}  // namespace simt
