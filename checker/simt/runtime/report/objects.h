// SPDX-License-Identifier: MIT
//
// What the program has made and must destroy: streams, events, libraries' handles and descriptors. One that is left is a
// leak. Graphs know by themselves (runtime/streams/graphs.h).
#pragma once

#include <string>

namespace simt {

void note_object(const void* object, std::string what, const void* site);  // "a handle of cuBLAS"
void forget_object(const void* object);
bool is_object(const void* object);  // it was given out, and not given back
void report_left_objects();

}  // namespace simt
