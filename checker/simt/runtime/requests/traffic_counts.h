// SPDX-License-Identifier: MIT
//
// The costs of accesses, as COUNTERS.md defines them: of a place in the code, of a line or of a launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/simt/runtime/base/source.h"

namespace simt {

inline constexpr std::uint64_t kSectorBytes = 32;
inline constexpr std::uint64_t kLineBytes = 128;

// The counts of one kind of access (loads, stores or atomics) to global memory.
struct GlobalTraffic {
    std::uint64_t requests = 0;        // of a warp
    std::uint64_t threads = 0;         // threads that take part, over all requests
    std::uint64_t sectors = 0;         // different sectors, counted for each request by itself
    std::uint64_t ideal_sectors = 0;   // the sectors that as many bytes side by side would take
    std::uint64_t lines = 0;           // different 128-byte lines, counted for each request by itself
    std::uint64_t wavefronts = 0;      // passes over the 32 data banks of L1
    std::uint64_t bytes_asked = 0;     // threads × size
    std::uint64_t bytes_distinct = 0;  // a byte counts once per request
    std::uint64_t bytes_unique = 0;    // a byte counts once per launch (for a line: once per line)

    std::uint64_t bytes_moved() const { return kSectorBytes * sectors; }
    GlobalTraffic& operator+=(const GlobalTraffic& other);
};

struct SharedTraffic {
    std::uint64_t requests = 0;
    std::uint64_t threads = 0;
    std::uint64_t bytes_asked = 0;       // threads × size
    std::uint64_t bytes_distinct = 0;    // a byte counts once per request
    std::uint64_t bytes_overlapped = 0;  // of loads: asked for while an asynchronous copy of the lane is on its way
    std::uint64_t wavefronts = 0;        // passes over the 32 banks
    std::uint64_t ideal_wavefronts = 0;  // the same without conflicts, for that size and those threads
    // The same if each lane's access were the 8 or 16 aligned bytes around it, as where nvcc merges neighbours.
    std::uint64_t wavefronts_of_8 = 0, wavefronts_of_16 = 0;

    std::uint64_t excess_wavefronts() const { return wavefronts - ideal_wavefronts; }
    SharedTraffic& operator+=(const SharedTraffic& other);
};

// What `simtcc --arithmetic` has counted: instructions of threads, and requests, which are a warp's.
struct ArithmeticTraffic {
    std::uint64_t fused = 0, fused_requests = 0;          // multiply-adds of floats
    std::uint64_t other = 0, other_requests = 0;          // of floats
    std::uint64_t in_double = 0, in_double_requests = 0;  // all of doubles
    ArithmeticTraffic& operator+=(const ArithmeticTraffic& more);
};

// Instructions of warps that tensor cores execute, and the multiply-adds in them, by the types of A and B.
struct TensorTraffic {
    std::uint64_t instructions = 0;
    std::uint64_t tf32 = 0, bf16 = 0, f16 = 0;
    std::uint64_t f16_to_f16 = 0;  // with accumulators of f16
    std::uint64_t truncated = 0;   // elements of A and B with bits that TF32 does not have
    std::uint64_t multiply_adds() const { return tf32 + bf16 + f16 + f16_to_f16; }
    TensorTraffic& operator+=(const TensorTraffic& other);
};

struct Traffic {
    GlobalTraffic loads, stores, atomics;
    SharedTraffic shared_loads, shared_stores, shared_atomics;
    SharedTraffic matrix_loads;  // ldmatrix; a thread is a row
    TensorTraffic tensor;
    std::uint64_t shuffles = 0;  // of a warp; of 8 bytes they are two
    // What L1 and shared memory need for all these requests, in quarters of a cycle: with a load/store unit of 32 lanes
    // a cycle, and of 16.
    std::uint64_t quarter_cycles_32 = 0, quarter_cycles_16 = 0;
    std::uint64_t atomic_passes = 0;  // each atomic request has as many as lanes share its busiest address
    std::uint64_t barriers = 0;       // counted for each warp
    std::uint64_t uneven = 0;         // how often a warp's lanes passed an access unequally often
    // Special functions (include/simt/special_functions.h): calls of warps, evaluations of threads, and those of doubles.
    std::uint64_t special_requests = 0, special_functions = 0, special_in_double = 0;
    ArithmeticTraffic arithmetic;
    // Of calls of libraries, which have none of the above: each byte once for each call and matrix.
    std::uint64_t library_calls = 0, library_bytes_read = 0, library_bytes_written = 0, library_flop = 0;
    std::uint64_t library_bytes_narrow = 0;                    // in smaller pieces than their addresses allow
    std::uint64_t library_flop_tf32 = 0, library_flop_16 = 0;  // those of them in products of TF32, and of 16 bits

    std::uint64_t global_requests() const { return loads.requests + stores.requests + atomics.requests; }
    std::uint64_t global_sectors() const { return loads.sectors + stores.sectors + atomics.sectors; }
    std::uint64_t ideal_sectors() const { return loads.ideal_sectors + stores.ideal_sectors + atomics.ideal_sectors; }
    std::uint64_t bytes_asked() const { return loads.bytes_asked + stores.bytes_asked + atomics.bytes_asked; }
    std::uint64_t bytes_moved() const { return kSectorBytes * global_sectors(); }
    // The bytes that must be loaded once and stored once.
    std::uint64_t bytes_needed() const { return loads.bytes_unique + stores.bytes_unique + atomics.bytes_unique; }
    std::uint64_t shared_requests() const {
        return shared_loads.requests + shared_stores.requests + shared_atomics.requests + matrix_loads.requests;
    }
    std::uint64_t lsu_instructions() const { return global_requests() + shared_requests() + shuffles; }
    std::uint64_t wavefronts() const {
        return shared_loads.wavefronts + shared_stores.wavefronts + shared_atomics.wavefronts + matrix_loads.wavefronts;
    }
    std::uint64_t excess_wavefronts() const;
    Traffic& operator+=(const Traffic& other);
};

// One load of shared memory in the code.
struct SharedLoad {
    std::uintptr_t place = 0;
    SharedTraffic traffic;
};

struct LineTraffic {
    SourceLine line;
    Traffic traffic;
    std::vector<std::string> buffers;           // of global memory that it used: their names, four at most
    std::vector<SharedLoad> shared_loads = {};  // by place
};

// The 32-byte sectors that runs of so many consecutive blocks touch, each once per run: sums over the complete runs that
// were counted (traffic_runs.h). Atomics load and store.
struct DistinctSectors {
    std::uint64_t blocks = 0;  // of a run
    std::uint64_t runs = 0;
    std::uint64_t load_sectors = 0, store_sectors = 0;
};

}  // namespace simt
