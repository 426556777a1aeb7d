// SPDX-License-Identifier: MIT
//
// What lanes get from a warp collective once all have come.
#pragma once

#include "checker/simt/runtime/scheduler.h"

namespace simt {

const char* name_of(const Collective& collective);  // "__ballot_sync", "cg::reduce"

// The collective of the lanes `together`, which all wait with the same kind: fills in their results.
void exchange(Warp& warp, unsigned together);

}  // namespace simt
