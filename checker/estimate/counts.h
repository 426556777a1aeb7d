// SPDX-License-Identifier: MIT
//
// What the CPU device counts of a launch (checker/simt/COUNTERS.md), as the JSON of SIMT_TRAFFIC and --traffic has it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checker/base/json.h"

namespace checker::estimate {

enum class Kind { global_load, global_store, global_atomic, shared_load, shared_store, shared_atomic };
inline constexpr std::size_t kKinds = 6;

// One kind of access.
struct Access {
    double requests = 0;  // of warps
    double threads = 0;   // over all requests
    double bytes = 0;     // threads × size
    double sectors = 0;   // of global memory: different ones of each request
    double lines = 0;     // of global memory: of 128 bytes, the same
    double wavefronts = 0;
    double size() const { return threads > 0 ? bytes / threads : 0; }  // bytes of a thread
};

struct Counts {
    std::array<Access, kKinds> access;
    double quarters_32 = 0, quarters_16 = 0;  // l1 quarter-cycles where 32 or 16 lanes are taken a cycle
    double lsu = 0;                           // instructions of the load and store unit
    double fma = 0, fma_requests = 0;         // of threads and of warps
    double other_flop = 0, other_flop_requests = 0;
    double special = 0, special_requests = 0;
    double barriers = 0;  // of warps
    double atomic_passes = 0;
    double library_calls = 0, library_bytes = 0, library_flop = 0;

    Access& of(Kind kind) { return access[static_cast<std::size_t>(kind)]; }
    const Access& of(Kind kind) const { return access[static_cast<std::size_t>(kind)]; }
    void scale(double factor);
    Counts& operator+=(const Counts& other);
};

struct LineCounts {
    std::string file;
    int line = 0;
    Counts counts;
};

// Different sectors of runs of as many blocks, one after another in x, then y, then z; summed over the runs.
struct Distinct {
    double blocks = 0, runs = 0;
    double load_sectors = 0, store_sectors = 0;
};

// A launch, or the calls of one function of a library: then `launches` is 0.
struct LaunchCounts {
    std::string kernel;  // with its template's arguments
    std::array<int, 3> grid{1, 1, 1}, block{1, 1, 1};
    double launches = 1;
    double blocks = 0, blocks_counted = 0;        // of all launches; fewer are counted where the others did not run
    double shared_bytes = 0;                      // of a block, static and dynamic
    double unique_loaded = 0, unique_stored = 0;  // bytes of the blocks that were counted, each once
    bool has_cost_of_lines = false;               // whether what follows was counted at all: older counts have none
    Counts total;
    std::vector<LineCounts> lines;
    std::vector<Distinct> distinct;

    int threads() const { return block[0] * block[1] * block[2]; }
    double warps() const { return (threads() + 31) / 32; }  // of a block
    bool sampled() const { return blocks_counted < blocks; }
};

// All launches that a file has: its launches one by one where all were kept, else each kernel's as so many equal ones.
struct CountsFile {
    std::vector<LaunchCounts> launches;
};
CountsFile parse_counts(std::string_view json, const std::string& from);  // throws std::runtime_error
LaunchCounts launch_counts(const Json& launch);                           // an element of "kernels" or "launches"

}  // namespace checker::estimate
