// SPDX-License-Identifier: MIT
//
// The calls that nvcc refuses, from what g++ warns of (checker/simt/lower/nvcc_refuses.h).
#pragma once

#include <string>
#include <string_view>

namespace simt {

struct RefusedCalls {
    std::string text;       // a line for each call
    bool is_error = false;  // not all of them are warnings
};

// `warnings`: g++'s, with -fdiagnostics-plain-output. `uses`: simt-lower's list. A call is refused if both name its line
// and its function.
RefusedCalls refused_calls(std::string_view warnings, std::string_view uses);

}  // namespace simt
