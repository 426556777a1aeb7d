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
#include "checker/estimate/executions.h"
#include "checker/estimate/sass.h"

namespace checker::estimate {

enum class Resource { issue, fma, integer, l1, special, tensor, l2, memory, latency, library };
inline constexpr std::size_t kResources = 10;
const char* name_of(Resource resource);  // "instruction issue", "FMA pipe", …

// How many blocks a multiprocessor holds.
struct Occupancy {
    int blocks = 0, warps = 0;
    int of_warps = 0;        // the most that it can hold
    std::string limited_by;  // "registers", "shared memory", "threads", "blocks", "the grid": with commas
    bool registers_known = false;
};
// 0 blocks: it cannot be launched. Registers 0: not known.
Occupancy occupancy(const Limits& limits, int threads, int registers, int shared);

struct Estimate {
    std::string kernel;
    std::array<int, 3> grid{}, block{};
    double launches = 1;
    std::array<double, kResources> seconds{};  // of all launches; 0: the resource is not used
    double shared_seconds = 0;                 // of l1's, what shared memory takes
    double total = 0;                          // of all launches, each its largest
    Occupancy occupied;
    double rounds = 0;     // of blocks, as many at once as fit; not rounded up
    double imbalance = 1;  // the busiest multiprocessor's blocks over the mean
    double memory_bytes = 0, l2_bytes = 0;
    bool from_sass = false;
    std::vector<std::string> notes;  // what makes it looser

    Resource limit() const;  // the one with most time
    Resource next() const;   // the second
    double at(Resource resource) const { return seconds[static_cast<std::size_t>(resource)]; }
};

// What part of a rate code reaches at best. Fixed on one card (README.md).
struct Efficiency {
    double memory = 0.92;
    double issue = 1;
    double fma = 1;
    double l1 = 1;
    double l2 = 1;
};

Estimate estimate(const Card& card, const LaunchCounts& launch, const KernelSass* sass, const Efficiency& reached = {});

// Launches of one kernel as one: in the order in which they come first.
std::vector<Estimate> by_kernel(const std::vector<Estimate>& launches);
double seconds_of(const std::vector<Estimate>& launches);

}  // namespace checker::estimate
