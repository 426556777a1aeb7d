// SPDX-License-Identifier: MIT
//
// What lanes get from a warp collective once all of them have come.
#pragma once

#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {

const char* name_of(const Collective& collective);  // "__ballot_sync", "cg::reduce"

// The lanes of the warp that wait in the same call: in the same function, with the same mask.
unsigned lanes_in(const Warp& warp, const Collective& call);

// Performs the collective of the lanes `together`, which all wait in the same one: fills in their results.
void exchange(Warp& warp, unsigned together);

}  // namespace simt
