// SPDX-License-Identifier: MIT
//
// What the CPU device counts of a launch (checker/simt/COUNTERS.md), as the JSON of SIMT_TRAFFIC has it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "checker/base/json.h"

namespace checker::estimate {

enum class Kind { global_load, global_store, global_atomic, shared_load, shared_store, shared_atomic };
inline constexpr std::size_t kKinds = 6;
constexpr bool is_global(Kind kind) {
    return kind <= Kind::global_atomic;
}

// One kind of access.
struct Access {
    double requests = 0;                               // of warps
    double threads = 0;                                // over all requests
    double bytes = 0;                                  // threads × size
    double wavefronts = 0;                             // passes over the data banks
    double wavefronts_of_8 = 0, wavefronts_of_16 = 0;  // of shared memory, were each lane's access so many bytes wide
    double distinct = 0;                               // of shared memory: bytes, each once a request
    // Of global memory:
    double sectors = 0;  // different ones of each request
    double lines = 0;    // of 128 bytes, the same
    double unique = 0;   // bytes, each once
    Access& operator+=(const Access& other);
    double size() const { return threads > 0 ? bytes / threads : bytes / (32 * requests); }  // bytes of a thread
};

// Work of tensor cores in kernels: instructions of warps, and FLOP by the type of the factors.
struct TensorCounts {
    double instructions = 0;
    double tf32 = 0, bf16 = 0, fp16 = 0;  // summed in fp32
    double fp16_fp16 = 0;                 // summed in fp16

    double flop() const { return tf32 + bf16 + fp16 + fp16_fp16; }
};

struct Counts {
    std::array<Access, kKinds> access;
    double shuffles = 0;
    double quarters_32 = 0, quarters_16 = 0;  // l1 quarter-cycles where 32 or 16 lanes are taken a cycle
    double fma = 0, fma_requests = 0;         // of threads and of warps
    double other_flop = 0, other_flop_requests = 0;
    double special = 0, special_requests = 0;
    double barriers = 0;                                                                // of warps
    double library_calls = 0, library_read = 0, library_written = 0, library_flop = 0;  // bytes
    double library_tf32 = 0, library_16_bits = 0;                                       // of its FLOP, by tensor cores
    TensorCounts tensor;

    Access& of(Kind kind) { return access[static_cast<std::size_t>(kind)]; }
    const Access& of(Kind kind) const { return access[static_cast<std::size_t>(kind)]; }
    double requests() const;  // of all kinds, and shuffles: what the load and store unit takes
    void scale(double factor);
};

struct LineCounts {
    std::string file;
    int line = 0;
    Counts counts;
    std::vector<Counts> shared_loads = {};  // one by one, where the line has several
    void scale(double factor);
};

// Different sectors of runs of as many blocks, one after another in x, then y, then z; summed over the runs.
struct Distinct {
    double blocks = 0, runs = 0;
    double load_sectors = 0, store_sectors = 0;
};

// A launch, or all launches of a kernel; or the calls of one function of a library: then `launches` is 0.
struct LaunchCounts {
    std::string kernel;  // with its template's arguments
    std::string file;    // of the launch
    std::array<int, 3> grid{1, 1, 1}, block{1, 1, 1};
    double launches = 1;
    double blocks = 0, blocks_counted = 0;  // of all launches; fewer are counted where the others did not run
    double shared_bytes = 0;                // of a block, static and dynamic
    bool arithmetic_counted = false;        // by simtcc --arithmetic; else fma and other_flop are 0
    Counts total;
    std::vector<LineCounts> lines;
    std::vector<Distinct> distinct;

    int threads() const { return block[0] * block[1] * block[2]; }
    int warps() const { return (threads() + 31) / 32; }  // of a block
    bool is_library() const { return launches == 0; }
    // One launch with all of its blocks: what was counted of some is scaled. Of `distinct` nothing is: its entries are of
    // so many blocks.
    LaunchCounts of_one_launch() const;
};

// The launches of a file one by one; of a kernel of which not all were kept, its sum. Throws std::runtime_error.
std::vector<LaunchCounts> parse_counts(std::string_view json, const std::string& from);
// The same from and to what was parsed: {"launches": […]}, and "kernels" where there is one.
std::vector<LaunchCounts> launches_of(const Json& counted);
// Gives the only kernel of an op the op's FLOP as multiply-adds, if no arithmetic was counted: it has at least those. What
// tensor cores or a library multiply was counted.
void add_least_arithmetic(std::vector<LaunchCounts>& launches, double flop);
Json counts_as_json(const std::vector<LaunchCounts>& launches);

}  // namespace checker::estimate
