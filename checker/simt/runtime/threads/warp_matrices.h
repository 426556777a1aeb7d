// SPDX-License-Identifier: MIT
//
// Warp collectives on matrices: mma.sync and ldmatrix. All 32 lanes take part, in the same instruction.
#pragma once

#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {

const char* name_of_warp_matrix(const Collective& collective);  // "mma.sync.m16n8k8 (tf32)", "ldmatrix.x4.trans"

// Perform the collective of the lanes `together`. A lane that has ended, or that the block does not have, is reported;
// its elements count as 0.
void multiply(Warp& warp, unsigned together);
void load_matrices(Warp& warp, unsigned together);

}  // namespace simt
