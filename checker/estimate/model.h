// SPDX-License-Identifier: MIT
//
// The least time that a launch needs on a card, by resource: README.md says each rule and its source.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "checker/estimate/cards.h"
#include "checker/estimate/counts.h"
#include "checker/estimate/sass.h"

namespace checker::estimate {

enum class Resource { issue, fma, integer, l1, special, tensor, l2, memory, latency, library };
inline constexpr std::size_t kResources = 10;
const char* name_of(Resource resource);  // "instruction issue", "FMA pipe", …

// How many blocks a multiprocessor holds at once. 0 blocks: none fits.
struct Occupancy {
    int blocks = 0, warps = 0;
    int most_warps = 0;      // that it could hold
    std::string limited_by;  // "registers", "shared memory", "threads", "blocks", with commas
};
// Registers of a thread; 0: not known.
Occupancy occupancy(const Limits& limits, int threads, int registers, int shared);

// Of a launch, or of several added up.
struct Estimate {
    std::string kernel;
    std::array<int, 3> grid{}, block{};        // of the first
    double launches = 1;                       // 0: calls of a library
    std::array<double, kResources> seconds{};  // at least; 0: not used
    double shared_seconds = 0;                 // of L1's, those of shared memory
    double total = 0;                          // of each launch the largest, added up
    double flop = 0;                           // counted: a multiply-add is two
    double memory_bytes = 0, l2_bytes = 0;
    int registers = 0;  // of a thread; 0: not known
    Occupancy occupied;
    double rounds = 0;       // of blocks, as many at once as fit
    double imbalance = 1;    // blocks of the busiest multiprocessor over the mean
    bool from_sass = false;  // else of the source's own accesses: looser
    bool launchable = true;  // else no block fits, or the card lacks an instruction: `notes` says which
    std::vector<std::string> notes;

    double at(Resource resource) const { return seconds[static_cast<std::size_t>(resource)]; }
    Resource limit() const;  // the one with most time
    Resource next() const;   // the second
    // The time if `limit` took none. Of several launches it is that of their sums.
    double without_limit() const { return at(next()); }
};

Estimate estimate(const GpuSpec& card, const LaunchCounts& launch, const KernelSass* sass);

// Launches of one kernel added up, in the order in which kernels come first.
std::vector<Estimate> by_kernel(const std::vector<Estimate>& launches);
double seconds_of(const std::vector<Estimate>& launches);

}  // namespace checker::estimate
