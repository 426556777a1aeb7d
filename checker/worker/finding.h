// SPDX-License-Identifier: MIT
//
// What went wrong, as it travels from the worker to its parent and into the report.
#pragma once

#include <string>
#include <vector>

namespace checker {

struct Finding {
    std::string kind;  // mismatch, nonfinite, untouched, suspect, displaced, padding, nondeterministic, uninitialised,
                       // out_of_bounds, input_changed, crash, exit, hang, out_of_memory, exception, not_defined,
                       // not_compiled, slow, impossible, order_dependent, kept, threads,
                       // host_work, too_accurate, unchecked_launch
    std::string text;  // one line
    std::vector<std::string> details = {};  // further lines, "label\ttext"
    std::string id = {};                    // of a suspect
};

// Of a launch by <<<...>>> after which nobody looks at errors.
inline constexpr const char* kUncheckedLaunch = "unchecked_launch";

// Findings as they travel from the worker: a JSON array of {kind, text, details}.
std::string findings_to_json(const std::vector<Finding>& findings);
std::vector<Finding> findings_from_json(const std::string& json);  // throws std::exception where it is none

}  // namespace checker
