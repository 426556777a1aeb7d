// SPDX-License-Identifier: MIT
//
// The cost of a kernel's accesses: requests, sectors, wavefronts and bytes, for each launch and each source line.
// COUNTERS.md says how each is counted and where its rule comes from. SIMT_TRAFFIC=1 prints them when the program
// ends, SIMT_TRAFFIC=file.json writes them. Launches that are counted are not searched for races; every other check
// stays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/simt/include/driver_types.h"
#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/requests/traffic_counts.h"

namespace checker {
class JsonWriter;
}

namespace simt {

struct LaunchObserver;

// A launch, or all launches of a kernel; or the calls of one function of a library: then none are launches.
struct LaunchTraffic {
    std::string kernel;
    dim3 grid, block;
    SourceLine line;               // the launch stands there
    std::uint64_t launches = 1;    // how many launches are added up here
    std::uint64_t blocks_run = 0;  // a sampled launch runs only some (sampling.h), and only these are counted
    std::uint64_t blocks = 0;
    std::uint64_t idle_blocks = 0;   // blocks among those that have used no global memory
    std::uint64_t shared_bytes = 0;  // shared memory of a block, static and dynamic; of several launches the most
    // By the length of the runs; the last one is the whole launch if it was run whole. Of several launches those of the
    // same length are added up.
    std::vector<DistinctSectors> distinct = {};
    bool unique_is_least = false;     // more memory was touched than can be kept: bytes_unique is a lower limit
    bool arithmetic_counted = false;  // all kernels were compiled with simtcc --arithmetic
    Traffic total;
    std::vector<LineTraffic> lines;  // by file and line

    // The line that moves most bytes between the multiprocessor and global memory; if none does, the one with most
    // wavefronts of shared memory. Null if there is none.
    const LineTraffic* costliest() const;
    void add(const LaunchTraffic& other);
};

// Counts launches where that is wanted.
extern const LaunchObserver traffic_observer;

// A call of a library has ended (libraries/library_call.h).
void note_library_call(const char* name, const void* site, const Traffic& traffic);

// Launches are counted while this lives, separately from earlier ones. If they were being counted already (by an outer
// one, or because SIMT_TRAFFIC says so), what is counted here counts there too, and that counting goes on.
class CountingTraffic {
  public:
    CountingTraffic();
    ~CountingTraffic();
    CountingTraffic(const CountingTraffic&) = delete;
    CountingTraffic& operator=(const CountingTraffic&) = delete;

  private:
    bool counted_before_;
    std::vector<LaunchTraffic> launches_, kernels_;  // the outer scope's
};

// Return the counts in the order of the launches: of the first thousand one by one, and each kernel's sum.
const std::vector<LaunchTraffic>& traffic_of_launches();
const std::vector<LaunchTraffic>& traffic_of_kernels();
// The sum of all of it, with the lines of all kernels.
LaunchTraffic traffic_in_all();

// A metric: Nsight Compute's name for it if it has one, otherwise what it is; and the value. All of them, and those
// that are not 0.
struct Metric {
    std::string name;
    std::uint64_t value;
};
std::vector<Metric> every_metric_of(const Traffic& traffic);
std::vector<Metric> metrics_of(const Traffic& traffic);
std::string traffic_as_text(const std::vector<LaunchTraffic>& kernels);
std::string traffic_as_json(const std::vector<LaunchTraffic>& launches, const std::vector<LaunchTraffic>& kernels);

// Writes the counts of one launch or one kernel as members of the JSON object that is open.
void write_traffic(checker::JsonWriter& json, const LaunchTraffic& launch);

// Prints or writes what SIMT_TRAFFIC asks for: text on stderr, or a file if it ends in .json. Called when the process
// ends.
void print_traffic_once();

}  // namespace simt
