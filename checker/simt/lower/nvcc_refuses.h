// SPDX-License-Identifier: MIT
//
// Finds what nvcc refuses and g++ takes: functions and arrays of the host in a kernel, launches of what cannot be
// launched. Names alone do not tell which overload is called, so g++ is asked: functions of the host whose names a
// kernel uses are marked as deprecated, and its warnings say where one is called.
#pragma once

#include <string>
#include <vector>

#include "checker/simt/lower/tokens.h"

namespace simt {

// A name in the code of the device that is also one of a function of the host.
struct HostUse {
    std::string place;   // "file:line"
    std::string name;    // the host's function
    std::string caller;  // "a __global__ function(\"scale\")"
    bool is_constexpr;
    bool is_error;  // for a __host__ __device__ caller nvcc only warns
};

struct HostUses {
    std::vector<std::size_t> marks;  // offsets at which declarations of the host's functions begin
    std::vector<HostUse> uses;
};

// `relaxed`: constexpr functions may be called (--expt-relaxed-constexpr). Throws SourceError, in nvcc's words, at what
// needs no compiler to be sure of.
HostUses find_host_uses(const Source& source, bool relaxed);

}  // namespace simt
