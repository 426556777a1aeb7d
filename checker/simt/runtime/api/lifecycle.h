// SPDX-License-Identifier: MIT
//
// What the program has made of the runtime: counted, destroyed when the device is reset, and reported if it is left.
#pragma once

#include <cstddef>

namespace simt {

struct LivingObjects {
    std::size_t graphs, executables, streams, events;
};
LivingObjects living_objects();

void destroy_streams_and_events();  // the device is reset

// Makes a finding of a launch's error that nobody has looked at.
void report_unchecked_error();
// Makes findings of memory that was never freed, and of what a library gave out and never got back.
void report_leaks();

}  // namespace simt
