// SPDX-License-Identifier: MIT
//
// Small launches in more than one order. A lock or a flag that is wrong may show only if one block, warp or lane comes
// before another one. So a launch whose kernel synchronises by atomics or flags runs again, with all three in reversed
// order; SIMT_ORDERS asks for more. Each run begins with the memory that the first one began with, and the program goes
// on with what the first one left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "checker/simt/include/driver_types.h"

namespace simt {

struct Launch;

class Orders {
  public:
    static Orders& instance();

    // Runs the launch. Returns cudaSuccess or the error with which the device ends.
    cudaError_t run(const Launch& launch);

    // Whether the launch has run before, and prints nothing now.
    bool again() const { return again_; }

    // How many were tried, if SIMT_ORDERS asks.
    void print() const;

  private:
    // What makes a launch small, so that nobody waits for its other orders.
    static constexpr std::uint64_t kMostThreads = 1U << 14;
    static constexpr std::uint64_t kMostBytesAsked = std::uint64_t{64} << 20;
    static constexpr std::size_t kMostMemory = std::size_t{16} << 20;  // of all buffers
    static constexpr int kMostLaunches = 8;                            // of one kernel

    struct Kernel {
        bool ran = false, synchronises = false;
        int launches = 0;  // that ran in several orders
    };

    Orders();
    bool may_run_again(const Launch& launch, const Kernel& kernel) const;

    unsigned orders_ = 2;
    bool asked_ = false;
    bool again_ = false;
    std::uint64_t launches_ = 0;                       // that ran in several orders
    std::unordered_map<const void*, Kernel> kernels_;  // by their code
};

}  // namespace simt
