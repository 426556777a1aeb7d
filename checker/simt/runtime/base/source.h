// SPDX-License-Identifier: MIT
//
// From a code address to the user's file and line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace simt {

struct SourceLine {
    std::string file;  // relative to the working folder if it is below it; empty: unknown
    int line = 0;
    std::string function;
    bool stands_in = false;  // the code is what a header of ours computes in place of an instruction that a GPU has
    // Of code that was inlined: the line of the outermost function, of a kernel's code the kernel's own; otherwise null.
    std::shared_ptr<const SourceLine> caller = nullptr;
    bool operator==(const SourceLine& other) const { return file == other.file && line == other.line; }
};

// The line of the call that returns to `return_address`, in the innermost inlined frame that is not in the stand-in
// headers, and in the outermost one. Answers are kept. It reads the debug information, so a signal handler must not call it.
const SourceLine& source_of(const void* return_address);

std::string text_of(const SourceLine& line);           // "matmul.cu:17", or "unknown line"
std::string at_text_of(const SourceLine& line);        // " at matmul.cu:17", or nothing where no line is known
std::string text_with_caller(const SourceLine& line);  // "warp_sum.cuh:7 (called at matmul.cu:17)"

}  // namespace simt
