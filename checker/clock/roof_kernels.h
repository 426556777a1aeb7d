// SPDX-License-Identifier: MIT
//
// Compiled with the flags of the lessons, so that the roof is that of the code which is measured against it.
#pragma once

namespace checker {

int vector_lanes();  // floats in one vector register

// Runs `rounds` rounds of independent fused multiply-adds in registers, enough chains to hide their latency.
// Returns the FLOPs done; `sink` keeps the compiler from leaving them out.
double run_fma(long rounds, float& sink);

}  // namespace checker
