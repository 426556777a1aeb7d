// SPDX-License-Identifier: MIT
//
// SIMT_ESTIMATE=H100 lets a program print, when it ends, what a card could do at best with the kernels that it launched
// (checker/estimate); H100,T4 and all name several, and H100:file.json writes the estimate. SIMT_SASS=a.json,b.json says
// what nvcc emits for them.
#pragma once

namespace simt {

// Called when the process ends.
void print_estimate_once();

}  // namespace simt
