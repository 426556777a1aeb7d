// SPDX-License-Identifier: MIT
//
// Follows launches as the scheduler runs them: the search for races, the counting of traffic, a debugger's or a trace's
// thread. The functions are called once per launch, block, slice or barrier, and never per access; null: nothing is to be
// done then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace simt {

struct Block;
struct Collective;
struct Lane;
struct Launch;
struct PartialBarrier;
struct Warp;

struct LaunchObserver {
    // Returns true if the functions between this one and end_launch are to be called during this launch.
    bool (*begin_launch)(const Launch& launch) = nullptr;

    void (*begin_block)(Block& block) = nullptr;
    void (*resume_block)(Block& block) = nullptr;  // the next slices are the block's
    void (*end_block)(Block& block, bool completed) = nullptr;

    // Before and after each slice of a lane, the block's `thread`.
    void (*begin_slice)(const Lane& lane, std::uint32_t thread) = nullptr;
    void (*end_slice)(const Lane& lane, std::uint32_t thread) = nullptr;

    // The running lane comes to a barrier of its block, to one of the grid, or to a collective.
    void (*reach_barrier)(const void* site) = nullptr;
    void (*reach_grid_barrier)(const void* site) = nullptr;
    void (*reach_collective)(const Lane& lane, const Collective& request) = nullptr;
    // The running lane arrives at a partial barrier, or has waited there.
    void (*arrive)(const PartialBarrier& partial_barrier, const void* site) = nullptr;
    void (*leave)(const PartialBarrier& partial_barrier, const void* site) = nullptr;

    // All that are awaited have come. `site` is null where threads have come to several lines.
    void (*pass_barrier)(const void* site) = nullptr;
    void (*pass_grid_barrier)(const void* site) = nullptr;
    void (*sync_lanes)(const Warp& warp, unsigned mask, const void* site) = nullptr;

    // `blocks` of the launch have begun.
    void (*end_launch)(const Launch& launch, std::uint64_t blocks) = nullptr;
};

inline constexpr std::size_t kLaunchObservers = 4;
// In the order in which they are called.
extern const std::array<const LaunchObserver*, kLaunchObservers> launch_observers;

}  // namespace simt
