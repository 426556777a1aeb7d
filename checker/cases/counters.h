// SPDX-License-Identifier: MIT
//
// What a device counts of a call, and what a kernel needs of it: a lesson's targets where there is no time to measure.
// A counter is known by its name alone here; the device that counts has the table of them (for the CPU device
// checker/devices/simt/simt_counters.cpp), and checker/simt/COUNTERS.md says how each is counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace checker {

// The calls in which a counter is judged though lesson.toml has no target for it: then none of it is allowed.
enum class JudgedIn { no_calls, all_calls, large_calls, warm_calls };

// A counter that a device has.
struct Counter {
    std::string_view name;    // in lesson.toml and check.cpp: "bytes_moved"
    std::string_view metric;  // Nsight Compute's name, * for ld, st and atom together; ours where it has none
    std::string_view takes;   // in words, with a number: "moves {} bytes of global memory"
    JudgedIn judged_in = JudgedIn::no_calls;
};

// What a call needs of a counter; no number where the device itself counts what would have done.
struct Needed {
    std::string counter;
    double value = 0;
};

// What a call, or the calls of a case together, have taken of it.
struct CounterResult {
    std::string counter;
    std::string takes;  // Counter::takes
    double value = 0;
    double needed = 0;
    double at_most = 1;     // times what is needed
    std::string most = {};  // the source line that takes most beyond what it needs, and how much; empty where none does
    bool too_many() const { return value > at_most * needed; }
};

// "asks for 4,096 bytes of global memory, 2 times the 2,048 that are needed"
std::string text_of(const CounterResult& counted);

}  // namespace checker
