// SPDX-License-Identifier: MIT
//
// Where kernels add floats atomically. Such a sum depends on the order of its terms: what differs between two seeds by
// no more than rounding is worth a note there, and no finding.
#pragma once

#include <vector>

#include "checker/simt/runtime/source.h"

namespace simt {

// The lines, each once and 64 at most, since they were last forgotten.
std::vector<SourceLine> float_atomics();
void forget_float_atomics();

}  // namespace simt
