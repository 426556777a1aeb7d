// SPDX-License-Identifier: MIT
//
// The roof of this machine as a file, results/roof.json.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "checker/clock/roof.h"

namespace checker {

struct Roof {
    CpuRoof cpu;
    std::string gpu;          // the JSON object that calibrate_gpu.cu prints; empty without a GPU
    std::string measured_at;  // UTC, "2026-01-31T12:00:00Z"
};

// Written under a temporary name and renamed, so that an interrupted run keeps the old file. Throws FileError.
void save_roof(const Roof& roof, const std::filesystem::path& path);

// The roof in the file. Empty where there is none, where it cannot be read or where it is another machine's; `why` is
// then one line that says so, and what to type. `cpu` is this machine's cpu_name().
std::optional<Roof> load_roof(const std::filesystem::path& path, const std::string& cpu, std::string& why);

}  // namespace checker
