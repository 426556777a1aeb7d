// SPDX-License-Identifier: MIT
//
// Floating-point arithmetic of kernels that `simtcc --arithmetic` compiles. Each basic block that has some calls
// simt_arithmetic where it begins. The call is noted in the running lane's trace, so that the merge of the warp says
// which lanes execute the block together (traffic_trace.h); what the block holds is read when the launch is over.
#pragma once

#include <memory>
#include <vector>

#include "checker/simt/runtime/requests/traffic_counts.h"
#include "checker/simt/runtime/requests/traffic_requests.h"

namespace simt {

// What the blocks of a launch computed, by source line.
std::vector<LineTraffic> arithmetic_of(const std::vector<std::unique_ptr<TrafficSite>>& sites);

}  // namespace simt

// Called by compiled kernels only: it leaves every register and the flags as they are.
extern "C" void simt_arithmetic();
