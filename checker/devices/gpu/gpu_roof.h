// SPDX-License-Identifier: MIT
//
// What calibrate_gpu.cu finds out about a GPU, the bounds that its own data set, and the JSON of both. Nothing
// here needs CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checker/clock/timing.h"

namespace checker {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// printf into a string of at most 511 characters.
template <class... Args>
std::string format(const char* pattern, Args... args) {
    char line[512];
    std::snprintf(line, sizeof line, pattern, args...);
    return line;
}

std::string cuda_version(int version);  // 13000 is "13.0"

// What a GPU says of itself.
struct Device {
    std::string name;
    std::string pci_bus_id;
    int major = 0, minor = 0;  // compute capability
    int sm_count = 0;
    std::size_t l2_bytes = 0;
    std::size_t memory_bytes = 0, free_bytes = 0;
    std::size_t shared_bytes_per_sm = 0;
    int driver_cuda = 0;             // 13000 is 13.0
    std::optional<double> clock_hz;  // of the multiprocessors; a card may go beyond it for a while
    int bus_bits = 0;                // of the memory; 0 where the driver does not tell
    double memory_clock_hz = 0;
    bool integrated = false;              // its memory is the host's
    bool pageable_memory_access = false;  // a kernel may read what the host's malloc gave: such a mistake is no fault

    int capability() const { return 10 * major + minor; }

    // What the memory bus carries at best: two transfers a clock. Memory that is shared with the processor has a
    // clock that the driver does not report reliably.
    std::optional<double> bus_bytes_per_s() const {
        const double rate = bus_bits / 8.0 * memory_clock_hz * 2;
        return rate > 0 ? std::optional(rate) : std::nullopt;
    }
};

// fp32 operations of one multiprocessor in a cycle, a multiply-add counted as two.
double fma_flop_per_cycle(const Device& device);

// The most that NVIDIA has built into a multiprocessor of this compute capability, in dense bf16 operations a cycle;
// TF32 does half as many. From the cards' published peaks: 312 TFLOP/s are 108 x 2048 x 1.41 GHz (A100), 989 TFLOP/s
// are 132 x 4096 x 1.83 GHz (H100). 0 where it is not known here.
double bf16_flop_per_cycle(const Device& device);

constexpr double kPortBytesPerCycle = 128;  // between one multiprocessor and its L1 or shared memory

constexpr double kSlack = 1.02;  // a result is impossible beyond its bound by more than events and clocks err

// One measured rate or time. `call` is what one call does; a sample may be several.
struct Result {
    std::optional<Summary> seconds;  // of one call; empty where it was not measured
    int calls_per_sample = 1;
    double work = 0;                      // bytes or FLOP of a call; 0 where the time is the result
    double bus_bytes = 0;                 // of a call, that must have crossed the memory bus
    double sm_cycles = 0;                 // that a call takes at least, on all multiprocessors
    std::optional<double> sm_clock;       // in Hz, as the kernel saw it
    std::optional<double> least_seconds;  // of a call; from bus_bytes and sm_cycles, by add_bound
    std::string bound_from;               // what least_seconds rests on
    std::string why;                      // why it was not measured

    bool impossible() const { return seconds && least_seconds && !(seconds->median >= *least_seconds / kSlack); }
    // Empty where it was not measured or cannot be.
    std::optional<double> rate() const {
        return seconds && !impossible() ? std::optional(work / seconds->median) : std::nullopt;
    }
    std::optional<double> time() const {
        return seconds && !impossible() ? std::optional(seconds->median) : std::nullopt;
    }
};

Result not_measured(const std::string& why);

enum class Operation { copy, read, write, memcpy };
enum class Cache {
    hot_in_kernel,  // passes over the same bytes inside one kernel: the cache and the memory themselves
    hot,            // kernels one after another on the same bytes, as launched
    cold            // kernels one after another on bytes of their own, L2 filled with other data before
};

constexpr Operation kOperations[] = {Operation::copy, Operation::read, Operation::write};
constexpr Cache kCaches[] = {Cache::hot_in_kernel, Cache::hot, Cache::cold};

const char* name(Operation operation);
const char* name(Cache cache);

struct MemoryRow {
    Operation operation = Operation::copy;
    Cache cache = Cache::cold;
    std::size_t bytes = 0;  // read plus written
    int loads = 0;          // 16-byte accesses that a thread of the fastest kernel has in flight; 0 for cudaMemcpy
    int blocks = 0;         // of its grid
    Result result;
};

// A matmul as the course writes it: out (N, OC) = inp (N, C) · weight (OC, C) transposed, rows contiguous.
struct MatmulShape {
    int N = 0, OC = 0, C = 0;
    double flop() const { return 2.0 * N * OC * C; }
};

struct GemmRow {
    MatmulShape shape;
    Result result;
};

struct TensorRoof {
    Result mma_sync;
    std::vector<GemmRow> cublas;
    std::string why_no_cublas;

    // The fastest of the shapes.
    std::optional<double> cublas_rate() const {
        std::optional<double> best;
        for (const GemmRow& row : cublas) {
            const std::optional<double> rate = row.result.rate();
            if (rate && (!best || *rate > *best)) {
                best = rate;
            }
        }
        return best;
    }
};

struct LaunchRoof {
    Result queued;        // from one empty kernel to the next where both wait in the stream
    Result back_to_back;  // launched one after another, host's time included
    Result launch_and_sync;
    Result event_pair;  // around one empty kernel: what a single launch costs in every time taken by events
};

struct HostCopyRoof {
    Result to_device_pinned, to_host_pinned, to_device_pageable, to_host_pageable;
};

struct GpuRoof {
    std::optional<Device> device;
    int runtime_cuda = 0;  // that the program was built with
    std::optional<std::string> driver_version;
    std::optional<double> sm_clock, sm_clock_max;  // by NVML; the first under load
    std::optional<int> cublas_version;
    std::vector<MemoryRow> memory;
    Result fma, shared_read;
    TensorRoof tf32, bf16;
    LaunchRoof launch;
    HostCopyRoof host;
    double seconds = 0;  // that all of it took
};

// Every result of the roof.
void for_each(GpuRoof& roof, const std::function<void(Result&)>& visit);

// No multiprocessor runs faster than this. What kernels saw counts only where NVML does not tell the card's limit: some
// cards' global timer ticks too coarsely for it.
std::optional<double> fastest_clock(GpuRoof& roof);

// The shortest time that a call can take, from what the device says of itself.
void add_bound(Result& result, const Device& device, std::optional<double> clock);

// Bytes read plus written by one call: multiples of `step`, from well inside L2 to far beyond it, at most `most`.
std::vector<std::size_t> memory_sizes(std::size_t l2_bytes, std::size_t step, std::size_t most);

std::string to_json(const GpuRoof& roof);

// The clock of the multiprocessors while they worked until it stayed the same, or the time for that was up.
struct Settling {
    std::vector<double> readings_hz;
    bool settled = false;
    double seconds = 0;
};
constexpr double kSettleStepSeconds = 0.5;  // from one reading to the next
constexpr double kSettleSeconds = 3;        // for all of them

// Returns true if the last two readings agree within 1%. One of 0 is none.
bool is_settled(const std::vector<double>& readings_hz);

// Calls `reading`, which keeps the card at work for kSettleStepSeconds and returns its clock in Hz, until is_settled or
// kSettleSeconds are over by `now`.
Settling settle_clock(const std::function<double()>& reading, const std::function<double()>& now);

std::string to_json(const Settling& settling);

}  // namespace checker
