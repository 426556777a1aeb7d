// SPDX-License-Identifier: MIT
//
// The worker's part of timing an op: memory, candidates, samples, and outputs for the parent to look at.
#pragma once

#include <filesystem>

#include "checker/cases/lesson.h"
#include "checker/worker/bench.h"
#include "checker/worker/messages.h"

namespace checker {

// What is left in shared memory after timing: the outputs of the subject, then those of the solution, then those of the
// subject on two threads, where Baseline::two_threads is among the rivals.
std::vector<BufferSpec> timed_specs(const Timed& timed, std::uint32_t baselines);

// Returns true if SOL_CACHE=hot: each sample then runs right after an untimed call on the same data. "cold", or nothing, is
// as the device does it. Throws std::invalid_argument for any other value.
bool wants_warm_caches();

// Times the subject against the rivals asked for. Then the inputs are drawn anew, the outputs poisoned, and the subject
// and the solution run once more: what they give is left in shared memory, so that the parent sees that what was timed
// was the work, and on any inputs. `older` is the object of Baseline::older. With SOL_KERNELS=FILE one more call of the subject
// is watched after the times, and FILE gets {"kernels": [names in order of start]}, or {"why": "…"} where they are not known.
Reply time_op(const Timed& timed, const Library& subject, const Library& solution, const std::filesystem::path& older,
              const Request& request, Bench& bench);

// The implementation of an op in the newest of the lessons before, next to the folder of the solution's; empty if there is none.
// A branch comes after the lesson that it is a branch of, and before no other.
std::filesystem::path older_implementation(const std::filesystem::path& reference_dir, const std::string& op);

}  // namespace checker
