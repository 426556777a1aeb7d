// SPDX-License-Identifier: MIT
//
// Counts the objects that the program has made, destroys them when the device is reset, and reports those that are left.
#pragma once

#include <cstddef>

namespace simt {

struct LivingObjects {
    std::size_t graphs, executables, streams, events;
};
LivingObjects living_objects();

void destroy_streams_and_events();  // the device is reset

// Makes a finding of a launch's error that the program has not looked at.
void report_unchecked_error();
// Makes findings of memory that was never freed, and of what a library gave out and never got back.
void report_leaks();

}  // namespace simt
