// SPDX-License-Identifier: MIT
//
// The one CUDA thread that the user asks to see: SIMT_STOP=KERNEL:BLOCK:THREAD for a debugger, SIMT_TRACE for its accesses
// (focus.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "checker/simt/include/driver_types.h"

namespace simt {

// The index of a block or a thread as the user gives it: x,y,z, or one number that counts all of them.
class GridIndex {
  public:
    explicit GridIndex(const std::string& text, const char* what);
    // The index in such an extent; nothing if it lies outside.
    std::optional<uint3> in(dim3 extent) const;
    const std::string& text() const { return text_; }

  private:
    std::string text_;
    std::vector<unsigned> numbers_;
};

struct ThreadRequest {
    std::string kernel;  // empty: any
    GridIndex block, thread;
};
const std::optional<ThreadRequest>& requested_thread();
bool stops_in_a_thread();   // SIMT_STOP: nothing is checked, and nothing takes too long
std::size_t trace_limit();  // lines: SIMT_TRACE_LIMIT

// Ends the process, which cannot do what the user asked for.
[[noreturn]] void refuse_request(const std::string& why);

}  // namespace simt
