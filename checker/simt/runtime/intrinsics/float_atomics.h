// SPDX-License-Identifier: MIT
//
// Where kernels add floats atomically. Such a sum depends on the order of its terms: a difference between two seeds
// that is no larger than rounding is worth a note there, and is not a finding.
#pragma once

#include <vector>

#include "checker/simt/runtime/base/source.h"

namespace simt {

// The lines since they were last forgotten, each of them once, and at most 64.
std::vector<SourceLine> float_atomics();
void forget_float_atomics();

}  // namespace simt
