// SPDX-License-Identifier: MIT
//
// Why a file for the CPU may be slow: it computes in doubles where its operands are floats.
#pragma once

#include <filesystem>
#include <string>

namespace checker {

// The first line of a C++ file at which a float becomes a double because of the other operand, "gelu.cpp:16", as the
// compiler says it; empty where there is none, or where it says nothing.
std::string first_double(const std::filesystem::path& file);

}  // namespace checker
