// SPDX-License-Identifier: MIT
//
// What a device counts of a call, and what a kernel needs of it: a lesson's targets where there is no time to measure.
// checker/simt/COUNTERS.md says how each is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace checker {

enum class Counter : std::uint8_t {
    bytes_asked,            // of global memory: threads × size, loads, stores and atomics
    bytes_moved,            // 32 for each sector
    requests,               // of a warp to global memory
    sectors,                // of global memory, each request for itself
    shared_bytes_asked,     // loaded from shared memory: threads × size
    shared_bytes_distinct,  // the same, a byte once a request
    excess_wavefronts,      // of shared memory, because of bank conflicts
    barriers,               // each warp's
};
inline constexpr std::size_t kCounters = static_cast<std::size_t>(Counter::barriers) + 1;

std::string to_string(Counter counter);  // "bytes_moved", as lesson.toml has it
std::optional<Counter> counter_of(std::string_view name);

// What one line of a kernel can have most of.
enum class Cost : std::uint8_t {
    moved,      // bytes of global memory
    loaded,     // bytes from shared memory
    conflicts,  // wavefronts lost to bank conflicts
    barriers,   // each warp's
};
inline constexpr std::size_t kCosts = static_cast<std::size_t>(Cost::barriers) + 1;
Cost cost_of(Counter counter);

// What a call needs of a counter. Of sectors the device says it: as many as the same bytes side by side would take.
struct Needed {
    Counter counter;
    double value = 0;
};

// What a case has taken of it.
struct Counted {
    Counter counter;
    double value = 0;
    double needed = 0;
    double at_most = 1;  // times what is needed
    bool too_many() const { return value > at_most * needed; }
};

// "asks for 4,096 bytes of global memory, 2 times the 2,048 that are needed"
std::string text_of(const Counted& counted);

}  // namespace checker
