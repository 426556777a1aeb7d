// SPDX-License-Identifier: MIT
//
// The registers and the local memory that nvcc gives a kernel, and blocks that cannot have them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "checker/cases/counters.h"
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

// The bytes that a thread of a kernel keeps in local memory, where arrays lie whose indices nvcc does not know.
struct LocalMemory {
    std::string kernel;  // without its namespace, template arguments and parameters
    long bytes = 0;
};

// Returns the kernel with the most local memory in what `nvcc -Xptxas -v` says.
LocalMemory most_local_memory_in(std::string_view said);

// Returns a count if a kernel of a lesson's file keeps more of a thread in local memory than the solution's file and more than
// an array of a few floats has. `note` is set if a kernel has such an array and nvcc is not there.
std::optional<CounterResult> find_local_memory(const std::filesystem::path& file, const std::filesystem::path& solution,
                                               std::string& note);

}  // namespace checker
