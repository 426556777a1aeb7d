// SPDX-License-Identifier: MIT
//
// Headers of NVIDIA's toolkit that the CPU device does not have. simtcc writes one for each that a program includes: it
// names what is not there, where the program uses it. A program that uses nothing of it compiles.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace simt {

// Returns the text of the header, or an empty string if it is none of the toolkit's.
std::string absent_header(const std::string& name);

// Returns the names that the files and the headers in these folders include, as far as they are in none of the folders.
// Conditions are not evaluated.
std::set<std::string> absent_includes(const std::vector<std::filesystem::path>& files,
                                      const std::vector<std::filesystem::path>& folders);

}  // namespace simt
