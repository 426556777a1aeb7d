// SPDX-License-Identifier: MIT
//
// Why a file may be slow: it computes in doubles where its operands are floats.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace checker {

// Returns "gelu.cpp:16 computes in doubles: 0.5 is one, 0.5f is a float". The line is the first at which the compiler warns
// of a float that becomes a double, or of a double that becomes a float; empty if there is none.
std::string first_double(const std::filesystem::path& file);

// Returns what makes the statement at a line (from 1) one of doubles: ": 0.5 is one, 0.5f is a float"; empty if its text
// does not show it. `host`: tanh and its like without std:: are the C library's, which take doubles.
std::string reason_for_double(std::string_view source, int line, bool host);

// Returns true if the statement at a line names the type, or a variable that is declared with it: who writes `double`
// means it.
bool means_double(std::string_view source, int line);

}  // namespace checker
