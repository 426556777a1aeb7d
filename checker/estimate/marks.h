// SPDX-License-Identifier: MIT
//
// Where nvcc does something else than the source says: accesses that it makes wider, narrower or not at all.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checker/estimate/counts.h"
#include "checker/estimate/sass.h"

namespace checker::estimate {

// What a line of the source does, as the CPU device counts it.
struct SourceAccess {
    int line = 0;
    Kind kind = Kind::global_load;
    int bytes = 0;  // of a thread
};

using MarkedLine = std::pair<int, Kind>;

// By line and kind, what nvcc emits there: "8 loads of 16 bytes for 32 of 4", "with line 33", "none". Nothing where it is as
// the source says, and nothing that the lines in the listing leave open. Of one file, which the kernel's lines are in.
std::map<MarkedLine, std::string> marks_of(const std::vector<SourceAccess>& source, const KernelSass& kernel,
                                           const std::string& file);

}  // namespace checker::estimate
