// SPDX-License-Identifier: MIT
//
// What nvcc emits for a kernel (reference/gpu/sass.py writes it): its registers, and by region the instructions of one turn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checker/estimate/counts.h"

namespace checker::estimate {

// Warp instructions of one turn.
struct Instructions {
    double issued = 0;
    double fma = 0, fp = 0, integer = 0, special = 0, lsu = 0, tensor = 0, other = 0;
    Instructions& add(const Instructions& turn, double turns);
};

struct EmittedAccess {
    int line = 0;
    Kind kind = Kind::global_load;
    bool is_async_copy = false;  // from global to shared memory: on the CPU device a load and a store
    double bytes = 0;            // of a thread
    double count = 0;
};

struct AtLine {
    int line = 0;
    double count = 0;
};

// A natural loop without its inner loops; the first region is what lies outside of loops.
struct Region {
    int parent = -1;
    Instructions instructions;
    std::vector<EmittedAccess> accesses;
    std::vector<AtLine> barriers, special;
    double loads_in_flight = 0;  // loads of global memory that are issued before the first is waited for
};

struct KernelSass {
    std::string kernel;
    int registers = 0;  // of a thread
    int shared = 0;     // bytes of a block, static
    int bounds = 0;     // threads of the largest block that it may have; 0: not said
    std::vector<Region> regions;
};

struct SassFile {
    std::string arch, nvcc, source;
    std::vector<KernelSass> kernels;
};

// One file of one source, or reference/sass.json: all of them. Throws std::runtime_error.
std::vector<SassFile> parse_sass(std::string_view json, const std::string& from);

// The kernel as the card's architecture has it; null where it is not there.
const KernelSass* find_kernel(const std::vector<SassFile>& files, std::string_view kernel, std::string_view arch);

}  // namespace checker::estimate
