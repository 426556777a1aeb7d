// SPDX-License-Identifier: MIT
//
// Barriers that are not __syncthreads(): of a tile of more than one warp, and of the block where to arrive and to wait
// are two steps. Threads that have exited are not waited for. A thread may leave a value for the others when it
// arrives.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace simt {

// Of the threads [begin, end) of a block.
struct PartialBarrier {
    using Value = std::uint64_t;

    PartialBarrier(unsigned first, unsigned last) : begin(first), end(last), has_arrived(last - first) {}

    unsigned begin, end;
    unsigned alive = 0;             // that have not exited
    unsigned arrived = 0;           // of those
    std::vector<bool> has_arrived;  // by rank
    const void* site = nullptr;     // of the first who arrived
    std::uint32_t phase = 0;        // how often all have arrived
    // How many arrived, and their values by rank, of this phase and of the one before: a thread reads them before it
    // arrives again, and until it has arrived there is no phase after the next one.
    std::array<unsigned, 2> came{};
    std::array<std::vector<Value>, 2> values;
};

}  // namespace simt
