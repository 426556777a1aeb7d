// SPDX-License-Identifier: MIT
//
// Launches of which only some blocks run. So shapes of more than 2^31 elements, whose index an int cannot hold, are
// tried without the time and the memory that all of their blocks would take. Device memory costs nothing until it is
// touched, so a buffer may be as large as the device's memory. This is for kernels whose blocks do not wait for one
// another.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checker/simt/include/driver_types.h"

namespace simt {

// Runs the first block, the last one, and `others` random ones, which are the same in every launch with as many
// blocks; or, with a share, that share of a launch's blocks, the first and the last among them. Or those run that `choose`
// names of a kernel's grid, in order.
struct Sampling {
    std::uint64_t others = 0;
    std::uint64_t seed = 1;
    double share = 0;
    std::function<std::vector<std::uint64_t>(const std::string& kernel, dim3 grid)> choose = {};
    // Of a library's calls some tiles are computed; or none, and they are judged and counted whole.
    bool libraries_compute = true;
    // The processor time that a launch may take. A block is cut short where it has run for a quarter of that and for its
    // part of it: blocks may be made to do all the work in few of them. 0: blocks run to their end.
    double seconds = 0;
};

// A launch since sampling began: the numbers of its blocks that were to run, in order, counted along x, then y, then
// z.
struct SampledLaunch {
    std::string kernel;
    dim3 grid;
    std::vector<std::uint64_t> blocks;
    std::uint64_t cut = 0;                  // blocks among these that were cut short or not begun
    dim3 index(std::uint64_t block) const;  // blockIdx
};

// From now on launches run samples, or all of their blocks if there is none. Forgets the launches so far.
void sample_blocks(std::optional<Sampling> sampling);

// Launches run samples while this lives.
class SamplingBlocks {
  public:
    explicit SamplingBlocks(const Sampling& sampling) { sample_blocks(sampling); }
    ~SamplingBlocks() { sample_blocks(std::nullopt); }
    SamplingBlocks(const SamplingBlocks&) = delete;
    SamplingBlocks& operator=(const SamplingBlocks&) = delete;
};

const std::vector<SampledLaunch>& sampled_launches();

bool samples_blocks();
bool libraries_compute();

// Notes a launch. Returns the sample to run; null if all of its blocks are to run.
SampledLaunch* sample(const std::string& kernel, dim3 grid);
// Returns Sampling::seconds; 0 if none are asked for.
double seconds_for_sample();

}  // namespace simt
