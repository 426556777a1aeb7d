// SPDX-License-Identifier: MIT
//
// What cards could do at best with a lesson's kernels, from what the CPU device counts and nvcc emits (checker/estimate).
#pragma once

#include "checker/cases/lesson.h"
#include "checker/program/options.h"
#include "checker/worker/device_backend.h"

namespace checker {

// Prints the estimate of each op of `options.only` (all without it) on options.cards, beside the solution's and an older
// one's; writes options.json, and what was counted into options.counts. Gives the exit status of the program.
int show_estimate(const Lesson& lesson, const Options& options);

}  // namespace checker
