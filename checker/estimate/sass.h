// SPDX-License-Identifier: MIT
//
// What nvcc emits for a kernel, as reference/gpu/sass.py writes it: its registers, and by region the instructions of one
// turn.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "checker/estimate/counts.h"

namespace checker::estimate {

// Of warps.
struct Instructions {
    double issued = 0;
    double fma = 0, fp = 0;  // of floats
    double multiplied = 0;   // products of integers, which the FMA pipe makes
    double integer = 0, special = 0, lsu = 0;
};

struct EmittedAccess {
    std::string file;  // empty: the kernel's own
    int line = 0;
    Kind kind = Kind::global_load;
    bool is_async_copy = false;  // from global to shared memory: the CPU device counts a load and a store
    double bytes = 0;            // of a thread
    double count = 0;
};

struct AtLine {
    std::string file;
    int line = 0;
    double count = 0;
};

// A natural loop without its inner loops, or what a branch may pass over; the first region is what lies outside of these.
struct Region {
    int parent = -1;
    Instructions instructions;
    std::vector<EmittedAccess> accesses;
    std::vector<AtLine> barriers, special;
    double spilled = 0;  // bytes of a thread that are stored in local memory and loaded from it
    double waits = 0;    // how often a warp waits for loads of global memory
};

struct KernelSass {
    std::string kernel;  // as the CPU device prints it
    std::string source;  // the file that it is in
    int registers = 0;   // of a thread
    int shared = 0;      // bytes of a block, static
    std::vector<Region> regions;
};

struct SassFile {
    std::string arch, nvcc, source;
    std::string digest = {};                         // of what is in these files:
    std::vector<std::filesystem::path> hashed = {};  // the source and its helpers
    std::vector<KernelSass> kernels;
};

// One file of one source, or {"files": […]}: all of them. Throws std::runtime_error.
std::vector<SassFile> parse_sass(std::string_view json, const std::string& from);

// Whether the files are still what nvcc compiled: lines that moved would be others.
bool is_fresh(const SassFile& file);

// What is known of a source, SOLUTION/op.cu or LESSON/op.cu, as it stands now: what make has written to build/sass, else
// what reference/sass.json has recorded.
std::vector<SassFile> sass_of(const std::filesystem::path& source);

// The launch's kernel as nvcc compiles it for the architecture: of the file that launches it where that is there, else of
// the only one that has a kernel of this name. Null where it is not there.
const KernelSass* find_kernel(const std::vector<SassFile>& files, const LaunchCounts& launch, std::string_view arch);

}  // namespace checker::estimate
