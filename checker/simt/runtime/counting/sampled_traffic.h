// SPDX-License-Identifier: MIT
//
// The traffic of launches that would take too long, from some of their blocks. Totals are of blocks that are spread over
// the grid; what blocks share is told from blocks that are neighbours.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "checker/simt/runtime/counting/traffic.h"

namespace simt {

struct SampledTraffic {
    // The launches, each with all its blocks where they were few or cheap. Of the others some are counted, and `distinct` is
    // what as many blocks, and all of them, touch in all likelihood.
    std::vector<LaunchTraffic> launches;
    // The same from each half of the blocks that were counted; the same launch twice where all of its blocks were.
    std::vector<LaunchTraffic> one_half, other_half;
    bool is_whole = true;
};

struct SamplingEffort {
    // Requests of warps to memory in each half of the blocks of a kernel, which has one block at least.
    std::uint64_t requests = 240'000;
    bool both_halves = true;  // false: the other half is the one again
};

// `run` launches, and waits until all has run; it is called several times, and must launch the same each time: else
// std::runtime_error. `thin`, if there is one, launches the same grids with less work for each block, of whose memory
// neighbours share as much: a product of matrices with shorter sums.
SampledTraffic count_some_blocks(const std::function<void()>& run, const std::function<void()>& thin = nullptr,
                                 const SamplingEffort& effort = {});

}  // namespace simt
