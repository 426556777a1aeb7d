// SPDX-License-Identifier: MIT
//
// What is counted of an op on the CPU device, and whose: for the listing of traffic and for the estimate.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "checker/cases/lesson.h"
#include "checker/program/options.h"

namespace checker {

// What an op is counted on: GPT-2's own shape, of which a share of each launch's blocks runs, or a case, whole. Of an op
// that arithmetic bounds it is the case that its target is judged on.
struct Work {
    std::string shape;
    Case of;
    bool is_whole = true;
};
// The case `wanted`, or "timing". Throws std::invalid_argument where there is none that can be counted whole.
Work work_of(const Op& op, const std::string& wanted);

inline constexpr std::size_t kMostBytes = std::size_t{600} << 20;  // of a call's buffers: more than that takes too long

// One implementation of the op.
struct Version {
    std::string who;  // "yours", "solution", "lesson 05"
    std::filesystem::path source;
    std::filesystem::path object = {};
};

// The implementations of the op: the subject's, the solution's where that is another, and an older one.
std::vector<Version> versions_of(const Lesson& lesson, const Options& options, const Op& op);

}  // namespace checker
