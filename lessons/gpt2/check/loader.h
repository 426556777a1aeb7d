// SPDX-License-Identifier: MIT
//
// The calls that reference/dump.py lists in a case file's metadata, and an op's cases made of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/gpt2/check/op_spec.h"

namespace cases {

// One op of the model on stored tensors.
struct FileCall {
    std::string case_name;                     // "regular"
    std::string where;                         // which of the case's calls: "h.0.ln_1"
    Sizes sizes;                               // what the op is called with
    std::map<std::string, std::string> index;  // by parameter: its dims, where they are not those of the op
    std::map<std::string, std::string> args;   // by parameter: the tensor in the file; in-out tensors are in both
    std::map<std::string, std::string> results;
    std::vector<std::string> null;       // parameters that are null
    std::string sequence = {};           // "three steps"; empty: the call stands for itself
    std::vector<std::string> left = {};  // in-out tensors that hold what the sequence's call before this one left there
};

// The file's calls of the op, in its order; none where it has none. Throws FileError with the first thing that is wrong
// with any call of the file.
std::vector<FileCall> calls_of(const checker::CaseFile& file, const OpSpec& spec);

// The same as cases that the checker can make, by their names; the calls of a sequence are one case, which runs them in
// turn. An input or in-out tensor has the elements that the op takes: the file stores it so, or as floats, which are
// rounded. Throws FileError where a tensor is missing, has another shape or elements that the op does not take.
std::vector<checker::Case> load_cases(const checker::CaseFile& file, const OpSpec& spec);

}  // namespace cases
