// SPDX-License-Identifier: MIT
#include "checker/estimate/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "checker/estimate/executions.h"

namespace checker::estimate {
namespace {

constexpr double kSector = 32;        // bytes
constexpr double kRegisters = 65536;  // of a multiprocessor

// The part of a rate that code reaches at best: README.md says by which measurements.
constexpr double kOfMemory = 0.92;
constexpr double kOfIssue = 0.8;   // where every scheduler has 32 lanes of fp32
constexpr double kOfLanes = 0.97;  // of the FMA pipe, where it has 16
constexpr double kLaunch = 1e-6;   // seconds from one kernel to the next
constexpr double kStream = 2.1;    // times the latency of a chase: what a load of memory takes among others
constexpr double kOfAStore = 2;    // times the time of L2 that a sector takes which is loaded
constexpr double kOfALoad = 0.5;   // cycles of L1 that a request beyond shared memory takes besides its passes

int up(int value, int unit) {
    return (value + unit - 1) / unit * unit;
}

// The sectors that runs of so many blocks need, for all blocks of a launch: between the runs that were counted by the power
// law through them.
double sectors(const LaunchCounts& launch, double blocks, double Distinct::*which) {
    const std::vector<Distinct>& runs = launch.distinct;
    const auto of = [&](const Distinct& run) { return run.*which / run.runs; };
    if (runs.size() == 1 || blocks <= runs.front().blocks) {
        return of(runs.front()) * launch.blocks / runs.front().blocks;
    }
    const auto above = std::ranges::find_if(runs, [&](const Distinct& run) { return run.blocks >= blocks; });
    const Distinct& b = above == runs.end() ? runs.back() : *above;
    const Distinct& a = *(above == runs.end() ? std::prev(runs.end(), 2) : std::prev(above));
    const double slope = of(a) > 0 ? std::log(of(b) / of(a)) / std::log(b.blocks / a.blocks) : 0;
    return of(b) * std::pow(blocks / b.blocks, slope) * launch.blocks / blocks;
}

struct Bytes {
    double asked = 0, l2_loaded = 0, l2 = 0, memory_loaded = 0, memory = 0;
};

// Of a launch: what its requests ask of L1, what a block needs of L2 at least once, and what must come from memory: each
// sector once where L2 holds all of them; else once for each run of so many blocks as L2 does hold, or run at once.
Bytes bytes_of(const GpuSpec& card, const LaunchCounts& launch, double at_once) {
    const auto access = [&](Kind kind) { return launch.total.of(kind); };
    Bytes bytes;
    bytes.asked = kSector * (access(Kind::global_load).sectors + access(Kind::global_atomic).sectors);
    const double stored = kSector * (access(Kind::global_store).sectors + access(Kind::global_atomic).sectors);
    if (launch.distinct.empty()) {
        bytes.l2_loaded = bytes.asked;
        bytes.memory_loaded = access(Kind::global_load).unique + access(Kind::global_atomic).unique;
        bytes.memory = bytes.memory_loaded + access(Kind::global_store).unique + access(Kind::global_atomic).unique;
    } else {
        double run = std::min(at_once, launch.blocks);
        for (const double more : {2 * run, 4 * run, 8 * run, 16 * run, 32 * run, 64 * run, launch.blocks}) {
            const double next = std::min(more, launch.blocks);
            const double both =
                sectors(launch, next, &Distinct::load_sectors) + sectors(launch, next, &Distinct::store_sectors);
            run = kSector * both * next / launch.blocks <= card.l2_size ? std::max(run, next) : run;
        }
        bytes.l2_loaded = kSector * sectors(launch, 1, &Distinct::load_sectors);
        bytes.memory_loaded = kSector * sectors(launch, run, &Distinct::load_sectors);
        bytes.memory = bytes.memory_loaded + kSector * sectors(launch, launch.blocks, &Distinct::store_sectors);
    }
    bytes.l2 = bytes.l2_loaded + kOfAStore * stored;
    return bytes;
}

struct Tensor {
    double seconds = 0;  // if each multiprocessor has its share
    std::vector<const char*> missing;
};

// The time of a launch's products on tensor cores, and the types that the card has none for.
Tensor tensor_of(const GpuSpec& card, const TensorCounts& counted) {
    Tensor result;
    const auto add = [&](double flop, double peak, const char* type) {
        if (flop > 0 && peak > 0) {
            result.seconds += flop / (card.mma_sync * peak);
        } else if (flop > 0) {
            result.missing.push_back(type);
        }
    };
    add(counted.tf32, card.tf32, "TF32");
    add(counted.bf16, card.bf16, "bf16");
    add(counted.fp16, card.fp16, "fp16");
    add(counted.fp16_fp16, card.fp16_fp16, "fp16");
    return result;
}

Estimate of_library(const GpuSpec& card, const LaunchCounts& calls) {
    Estimate result;
    result.kernel = calls.kernel;
    result.launches = 0;
    result.flop = calls.total.library_flop;
    result.memory_bytes = calls.total.library_read + calls.total.library_written;
    result.seconds[static_cast<std::size_t>(Resource::memory)] = result.memory_bytes / (kOfMemory * card.memory);
    const Counts& total = calls.total;
    const double plain = total.library_flop - total.library_tf32 - total.library_16_bits;
    result.seconds[static_cast<std::size_t>(Resource::library)] =
        plain / card.fp32 + total.library_tf32 / std::max(card.tf32, card.fp32) +
        total.library_16_bits / std::max(card.bf16, card.fp32);
    result.total = result.at(result.limit());
    result.notes.emplace_back("a library's kernels are taken to reach the peaks of arithmetic and of memory");
    return result;
}

void note(std::vector<std::string>& notes, std::string what) {
    if (std::ranges::find(notes, what) == notes.end()) {
        notes.push_back(std::move(what));
    }
}

}  // namespace

const char* name_of(Resource resource) {
    constexpr std::array<const char*, kResources> kNames{
        "instruction issue", "FMA pipe", "integer pipe", "load/store and L1", "special functions",
        "tensor cores",      "L2",       "memory",       "latency",           "library arithmetic"};
    return kNames[static_cast<std::size_t>(resource)];
}

Occupancy occupancy(const Limits& limits, int threads, int registers, int shared) {
    const int warps = (threads + 31) / 32;
    // A warp's registers come in units of 256, and each warp lies in one of the multiprocessor's four parts.
    std::vector<std::pair<const char*, int>> allowed{{"threads", limits.warps / warps}, {"blocks", limits.blocks}};
    if (registers > 0) {
        allowed.emplace_back("registers", static_cast<int>(kRegisters) / 4 / up(32 * registers, 256) * 4 / warps);
    }
    if (shared + limits.shared_reserved > 0) {
        allowed.emplace_back("shared memory", limits.shared / up(shared + limits.shared_reserved, limits.shared_unit));
    }
    Occupancy result{.most_warps = limits.warps, .limited_by = {}};
    result.blocks = std::ranges::min_element(allowed, {}, &std::pair<const char*, int>::second)->second;
    result.warps = result.blocks * warps;
    for (const auto& [what, count] : allowed) {
        if (count == result.blocks) {
            result.limited_by += (result.limited_by.empty() ? "" : ", ") + std::string(what);
        }
    }
    return result;
}

Resource Estimate::limit() const {
    return static_cast<Resource>(std::ranges::max_element(seconds) - seconds.begin());
}

Resource Estimate::next() const {
    std::array<double, kResources> others = seconds;
    others[static_cast<std::size_t>(limit())] = -1;
    return static_cast<Resource>(std::ranges::max_element(others) - others.begin());
}

Estimate estimate(const GpuSpec& card, const LaunchCounts& counted, const KernelSass* sass) {
    if (counted.is_library()) {
        return of_library(card, counted);
    }
    const LaunchCounts launch = counted.of_one_launch();
    const Work work = work_of(launch, sass);
    const Instructions& issued = work.instructions;
    Estimate result;
    result.kernel = launch.kernel;
    result.grid = launch.grid;
    result.block = launch.block;
    result.launches = counted.launches;
    result.flop = 2 * launch.total.fma + launch.total.other_flop + launch.total.tensor.flop();
    result.registers = sass == nullptr ? 0 : sass->registers;
    result.from_sass = work.from_sass;
    result.occupied = occupancy(card.limits, launch.threads(), result.registers, static_cast<int>(launch.shared_bytes));
    const int resident = std::max(result.occupied.blocks, 1);
    const double mean = launch.blocks / card.multiprocessors;  // blocks of a multiprocessor
    result.imbalance = std::ceil(mean) / mean;
    result.rounds = mean / resident;
    const double at_once = static_cast<double>(resident) * card.multiprocessors;

    const auto set = [&](Resource resource, double seconds) {
        result.seconds[static_cast<std::size_t>(resource)] = counted.launches * seconds;
    };
    // Cycles of all multiprocessors together, in which the busiest one has more to do than the mean.
    const auto of_cycles = [&](double cycles) {
        return card.seconds(result.imbalance * cycles / card.multiprocessors);
    };
    const bool wide = card.fp32_lanes >= 32 * card.schedulers;
    set(Resource::issue, of_cycles(issued.issued / card.schedulers / (wide ? kOfIssue : 1)));
    set(Resource::fma,
        of_cycles(32 * (issued.fma + issued.fp + issued.multiplied) / card.fp32_lanes / (wide ? kOfIssue : kOfLanes)));
    set(Resource::integer, of_cycles(32 * std::max(issued.integer, issued.multiplied) / card.int_lanes));
    set(Resource::special, of_cycles(32 * issued.special / card.special_lanes));
    const Tensor tensor = tensor_of(card, launch.total.tensor);
    set(Resource::tensor, result.imbalance * tensor.seconds);
    // A pass of 128 bytes takes two cycles where L1 gives 64.
    const double quarters = card.lsu_lanes == 32 ? work.quarters_32 : work.quarters_16;
    set(Resource::l1, of_cycles(std::max(quarters / 4, work.wavefronts * 128 / card.l1_bytes) + kOfALoad * work.loads));
    result.shared_seconds = work.shared_part * result.at(Resource::l1);

    const Bytes bytes = bytes_of(card, launch, at_once);
    result.l2_bytes = counted.launches * bytes.l2;
    result.memory_bytes = counted.launches * bytes.memory;
    set(Resource::l2, bytes.l2 / card.l2);
    set(Resource::memory, bytes.memory / (kOfMemory * card.memory));

    // A load comes from as far as the first touch of what it asks for has to go.
    const double beyond_l1 = bytes.asked > 0 ? std::min(bytes.l2_loaded / bytes.asked, 1.0) : 0;
    const double beyond_l2 = bytes.asked > 0 ? std::min(bytes.memory_loaded / bytes.asked, beyond_l1) : 0;
    const double load = card.l1_cycles + (card.l2_cycles - card.l1_cycles) * beyond_l1 +
                        (kStream * card.memory_cycles - card.l2_cycles) * beyond_l2;
    const double chain = work.waits / (launch.blocks * launch.warps()) * load;  // cycles of a warp
    set(Resource::latency, kLaunch + card.seconds(chain) * std::max(1.0, std::ceil(mean) / resident));

    result.total = result.at(result.limit());
    result.flop *= counted.launches;
    if (!work.from_sass) {
        note(result.notes, launch.arithmetic_counted
                               ? "of the source's own accesses and arithmetic, without what nvcc emits: looser"
                               : "of the source's own accesses, without arithmetic and what nvcc emits: looser");
    }
    if (launch.distinct.empty()) {
        note(result.notes, "bytes of L2 and memory are those of requests, and each byte once: looser");
    }
    if (counted.blocks_counted < counted.blocks) {
        note(result.notes, fmt::format("counted on {:.0f} of {:.0f} blocks of this input, and scaled",
                                       counted.blocks_counted, counted.blocks));
    }
    if (result.occupied.blocks == 0) {
        result.launchable = false;
        note(result.notes, "no block fits a multiprocessor: it cannot be launched on this card");
    }
    if (!tensor.missing.empty()) {
        result.launchable = false;
        note(result.notes, fmt::format("this card's tensor cores have no {}: it cannot be launched there",
                                       fmt::join(tensor.missing, ", ")));
    }
    if (!card.assumed.empty()) {
        note(result.notes, fmt::format("of this card {} {} taken from a like one", fmt::join(card.assumed, ", "),
                                       card.assumed.size() == 1 ? "is" : "are"));
    }
    return result;
}

std::vector<Estimate> by_kernel(const std::vector<Estimate>& launches) {
    std::vector<Estimate> kernels;
    std::map<std::string, std::size_t> places;
    for (const Estimate& launch : launches) {
        const auto [place, is_new] = places.try_emplace(launch.kernel, kernels.size());
        if (is_new) {
            kernels.push_back(launch);
            continue;
        }
        Estimate& sum = kernels[place->second];
        for (std::size_t i = 0; i < kResources; i++) { sum.seconds[i] += launch.seconds[i]; }
        sum.launches += launch.launches;
        sum.shared_seconds += launch.shared_seconds;
        sum.total += launch.total;
        sum.flop += launch.flop;
        sum.memory_bytes += launch.memory_bytes;
        sum.l2_bytes += launch.l2_bytes;
        sum.from_sass = sum.from_sass && launch.from_sass;
        sum.launchable = sum.launchable && launch.launchable;
        for (const std::string& text : launch.notes) { note(sum.notes, text); }
    }
    return kernels;
}

double seconds_of(const std::vector<Estimate>& launches) {
    double sum = 0;
    for (const Estimate& launch : launches) { sum += launch.total; }
    return sum;
}

}  // namespace checker::estimate
