// SPDX-License-Identifier: MIT
//
// The registers that nvcc gives a kernel, and blocks that cannot have them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "checker/worker/finding.h"

namespace checker {

// Returns the registers of a thread of the kernel in what `nvcc -Xptxas -v` says; of a template's instances the most.
// Nothing if it does not name the kernel.
std::optional<long> registers_in(std::string_view said, std::string_view kernel);

// Returns true if a multiprocessor has the registers of a block.
bool block_fits(long threads, long registers);

// Returns a finding if a kernel of a lesson's file takes too many registers for its blocks; nothing if they fit. `note` is
// set to what is to be said if nvcc is not there, or does not compile the file.
std::optional<Finding> find_too_many_registers(const std::filesystem::path& file, const std::string& kernel,
                                               long threads, std::string& note);

}  // namespace checker
