// SPDX-License-Identifier: MIT
//
// A lesson's kernels with what their accesses cost beside each line, as the CPU device counts it (simt/COUNTERS.md).
#pragma once

#include "checker/cases/lesson.h"
#include "checker/program/options.h"
#include "checker/worker/device_backend.h"

namespace checker {

// Prints the listing of each op of `options.only` (all without it), with the solution's totals beside it, and writes
// options.json. Gives the exit status of the program.
int show_traffic(DeviceBackend& device, const Lesson& lesson, const Options& options);

}  // namespace checker
