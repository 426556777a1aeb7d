// SPDX-License-Identifier: MIT
//
// What libraries give out that the program must give back: handles, descriptors. One that is left is a leak.
#pragma once

#include <cstddef>
#include <string>

namespace simt {

void note_object(const void* object, std::string what, const void* site);  // "a handle of cuBLAS"
void forget_object(const void* object);
bool is_object(const void* object);  // it was given out, and not given back
void report_left_objects();

// What the program has made of the runtime, and not destroyed.
struct LivingObjects {
    std::size_t graphs, executables, streams, events;
};
LivingObjects living_objects();

}  // namespace simt
