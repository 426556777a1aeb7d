// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/counting/sampled_traffic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/streams/sampling.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

// Launches of a kernel on a grid are alike: of each as many blocks run.
using Key = std::tuple<std::string, unsigned, unsigned, unsigned>;
using Blocks = std::vector<std::uint64_t>;  // their numbers, in order

Key key_of(const std::string& kernel, dim3 grid) {
    return {kernel, grid.x, grid.y, grid.z};
}

std::uint64_t blocks_of(dim3 grid) {
    return std::uint64_t{grid.x} * grid.y * grid.z;
}

// `count` blocks of a grid, spread so that any part of it has its share. Along its last axis: one in each of as many equal
// stretches. Along the others, where work may differ too: places of Kronecker's sequence, by the powers of the root of
// x^(d+1) = x + 1. Where there are no others the place in a stretch is one of the sequence, so that what comes in turns is
// not met in step. `half` is 0 or 1: other places.
Blocks spread(dim3 grid, std::uint64_t count, int half) {
    const std::uint64_t blocks = blocks_of(grid);
    if (count >= blocks) {
        Blocks all(blocks);
        std::iota(all.begin(), all.end(), 0U);
        return all;
    }
    std::vector<double> sides, strides;  // of the axes that have more than one place
    double stride = 1;
    for (const double side : {static_cast<double>(grid.x), static_cast<double>(grid.y), static_cast<double>(grid.z)}) {
        if (side > 1) {
            sides.push_back(side);
            strides.push_back(stride);
        }
        stride *= side;
    }
    constexpr std::array kRoots{1.6180339887498949, 1.3247179572447461};
    const double root = kRoots.at(sides.size() == 3 ? 1 : 0);
    const std::size_t last = sides.size() - 1;
    std::set<std::uint64_t> chosen;
    for (std::uint64_t i = 0; chosen.size() < count; i++) {
        const auto turn = static_cast<double>(half == 0 ? i : count + i);
        const auto place = [&](int power) { return std::fmod(0.5 + turn / std::pow(root, power), 1.0); };
        double number = 0;
        for (std::size_t axis = 0; axis < last; axis++) {
            number += strides[axis] * std::floor(place(static_cast<int>(axis) + 1) * sides[axis]);
        }
        const double within = last == 0 ? place(1) : half == 0 ? 0.25 : 0.75;
        const double stretch = (static_cast<double>(i % count) + within) / static_cast<double>(count);
        number += strides[last] * std::min(std::floor(stretch * sides[last]), sides[last] - 1);
        chosen.insert(static_cast<std::uint64_t>(number));
    }
    return {chosen.begin(), chosen.end()};
}

// Neighbours, from the middle of the grid: as runs of them are counted (traffic_runs.h), from a multiple of their number on,
// which is a power of two.
Blocks in_a_row(std::uint64_t blocks, std::uint64_t count) {
    Blocks chosen(std::bit_floor(std::min(blocks, count)));
    std::iota(chosen.begin(), chosen.end(), (blocks - chosen.size()) / 2 / chosen.size() * chosen.size());
    return chosen;
}

// The launches, then the calls of libraries.
std::vector<LaunchTraffic> counted(const std::function<void()>& run,
                                   const std::function<Blocks(const std::string& kernel, dim3 grid)>& choose) {
    const CountingTraffic counting;
    const SamplingBlocks sampling({.choose = choose, .libraries_compute = false});
    run();
    std::vector<LaunchTraffic> all = traffic_of_launches();
    for (const LaunchTraffic& kernel : traffic_of_kernels()) {
        if (kernel.launches == 0) {
            all.push_back(kernel);
        }
    }
    return all;
}

bool are_alike(const std::vector<LaunchTraffic>& one, const std::vector<LaunchTraffic>& other) {
    return std::ranges::equal(one, other, [](const LaunchTraffic& a, const LaunchTraffic& b) {
        return key_of(a.kernel, a.grid) == key_of(b.kernel, b.grid);
    });
}

void require_alike(const std::vector<LaunchTraffic>& one, const std::vector<LaunchTraffic>& other) {
    if (!are_alike(one, other)) {
        throw std::runtime_error("it launches other kernels each time it is called");
    }
}

// Of the counted blocks: those of both, as of one launch.
LaunchTraffic together(LaunchTraffic one, const LaunchTraffic& other) {
    const std::uint64_t launches = one.launches, blocks = one.blocks;
    one.add(other);
    one.launches = launches;
    one.blocks = blocks;
    return one;
}

double requests_of_a_block(const LaunchTraffic& launch) {
    const std::uint64_t requests = launch.total.global_requests() + launch.total.shared_requests();
    return static_cast<double>(std::max<std::uint64_t>(requests, 1)) /
           static_cast<double>(std::max<std::uint64_t>(launch.blocks_run, 1));
}

constexpr std::uint64_t kMostBlocks = 256;  // of a launch: more say nothing new

// How many blocks of each kernel and grid run, so that they make so many requests.
class Shares {
  public:
    // Told from one block of each, and where that is cheap from more.
    Shares(const std::function<void()>& run, std::uint64_t requests) {
        constexpr std::uint64_t kProbed = 8;
        probed_ = counted(run, [](const std::string&, dim3 grid) { return spread(grid, 1, 1); });
        take(requests);
        if (std::ranges::all_of(blocks_, [](const auto& known) { return known.second >= kProbed; })) {
            probed_ = counted(run, [](const std::string&, dim3 grid) { return spread(grid, kProbed, 1); });
            take(requests);
        }
    }
    std::uint64_t of(const std::string& kernel, dim3 grid) const {
        const auto known = blocks_.find(key_of(kernel, grid));
        return known == blocks_.end() ? 1 : known->second;
    }
    bool are_one_block() const {
        return std::ranges::all_of(blocks_, [](const auto& known) { return known.second == 1; });
    }
    const std::vector<LaunchTraffic>& probed() const { return probed_; }

  private:
    void take(std::uint64_t requests) {
        blocks_.clear();
        std::map<Key, std::uint64_t> launches;
        for (const LaunchTraffic& launch : probed_) { launches[key_of(launch.kernel, launch.grid)] += launch.launches; }
        for (const LaunchTraffic& launch : probed_) {
            const std::uint64_t alike = std::max<std::uint64_t>(launches[key_of(launch.kernel, launch.grid)], 1);
            const double of_each =
                static_cast<double>(requests) / static_cast<double>(alike) / requests_of_a_block(launch);
            const auto blocks = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(of_each), 1, kMostBlocks);
            const auto known = blocks_.try_emplace(key_of(launch.kernel, launch.grid), blocks).first;
            known->second = std::min(known->second, blocks);
        }
    }

    std::vector<LaunchTraffic> probed_;
    std::map<Key, std::uint64_t> blocks_;
};

// What the launch can load, or store, at most: the buffers that its lines have met; of memory without a name all that
// there is.
double most_sectors(const LaunchTraffic& launch, GlobalTraffic Traffic::*kind) {
    std::set<std::string> names;
    bool all = false;
    for (const LineTraffic& line : launch.lines) {
        if ((line.traffic.*kind).requests + line.traffic.atomics.requests != 0) {
            names.insert(line.buffers.begin(), line.buffers.end());
            all = all || line.buffers.empty();
        }
    }
    double bytes = 0;
    for (const auto& [begin, allocation] : Memory::instance().allocations()) {
        bytes += allocation.freed_at == nullptr && (all || names.contains(allocation.name))
                     ? static_cast<double>(allocation.bytes)
                     : 0;
    }
    return bytes / static_cast<double>(kSectorBytes);
}

// One number of runs, by their blocks: between two that are known on the line through them; beyond the last on as the last
// doubling went, up to `most`.
class Growth {
  public:
    explicit Growth(double most) : most_(most) {}
    void add(double blocks, double sectors) { known_[blocks] = sectors; }
    double at(double blocks) const {
        const auto above = known_.lower_bound(blocks);
        if (above != known_.end() && above->first == blocks) {
            return above->second;
        }
        if (known_.size() == 1) {
            return std::min(most_, known_.begin()->second * blocks / known_.begin()->first);
        }
        const auto b = above == known_.end() ? std::prev(above) : above == known_.begin() ? std::next(above) : above;
        const auto a = std::prev(b);
        const double slope = (b->second - a->second) / (b->first - a->first);
        return std::clamp(a->second + slope * (blocks - a->first), 0.0, std::max(most_, b->second));
    }

  private:
    std::map<double, double> known_;
    double most_;
};

// What runs of neighbours touch, up to all blocks of the launch..
std::vector<DistinctSectors> extrapolated(const LaunchTraffic& launch, const LaunchTraffic& row, double loads,
                                          double stores) {
    Growth loaded(most_sectors(launch, &Traffic::loads)), stored(most_sectors(launch, &Traffic::stores));
    for (const DistinctSectors& runs : row.distinct) {
        if (runs.runs != 0) {
            const double each = static_cast<double>(runs.runs), blocks = static_cast<double>(runs.blocks);
            loaded.add(blocks, loads * static_cast<double>(runs.load_sectors) / each);
            stored.add(blocks, stores * static_cast<double>(runs.store_sectors) / each);
        }
    }
    std::vector<DistinctSectors> result;
    for (std::uint64_t blocks = 1;; blocks = std::min(2 * blocks, launch.blocks)) {
        const double x = static_cast<double>(blocks);
        result.push_back({.blocks = blocks,
                          .runs = 1,
                          .load_sectors = static_cast<std::uint64_t>(std::llround(loaded.at(x))),
                          .store_sectors = static_cast<std::uint64_t>(std::llround(stored.at(x)))});
        if (blocks == launch.blocks) {
            return result;
        }
    }
}

// Sectors of a single block, over those of another count of it.
double ratio_of_a_block(const std::vector<DistinctSectors>& above, const std::vector<DistinctSectors>& below,
                        std::uint64_t DistinctSectors::*sectors) {
    const auto of_one = [&](const std::vector<DistinctSectors>& runs) {
        return runs.empty() || runs.front().runs == 0
                   ? 0.0
                   : static_cast<double>(runs.front().*sectors) / static_cast<double>(runs.front().runs);
    };
    return of_one(below) == 0 ? 1 : of_one(above) / of_one(below);
}

}  // namespace

SampledTraffic count_some_blocks(const std::function<void()>& run, const std::function<void()>& thin,
                                 const SamplingEffort& effort) {
    const Shares shares(run, effort.requests);
    const auto half = [&](int number) {
        return counted(run, [&, number](const std::string& kernel, dim3 grid) {
            return spread(grid, shares.of(kernel, grid), number);
        });
    };
    const auto is_whole = [](const LaunchTraffic& launch) { return launch.blocks_run == launch.blocks; };
    SampledTraffic result;
    result.other_half = shares.are_one_block() ? shares.probed() : half(1);
    require_alike(shares.probed(), result.other_half);
    result.is_whole = std::ranges::all_of(result.other_half, is_whole);
    result.one_half = result.is_whole || !effort.both_halves ? result.other_half : half(0);
    require_alike(result.one_half, result.other_half);
    for (std::size_t i = 0; i < result.one_half.size(); i++) {
        const LaunchTraffic &one = result.one_half[i], &other = result.other_half[i];
        result.launches.push_back(is_whole(one) || !effort.both_halves ? one : together(one, other));
    }
    if (result.is_whole) {
        return result;
    }
    // What neighbours share. Where sums may be shorter, many more of them run in the same time.
    const auto neighbours = [&](const std::function<void()>& of, const Shares& enough) {
        return counted(of, [&](const std::string& kernel, dim3 grid) {
            const bool whole = shares.of(kernel, grid) >= blocks_of(grid);
            return in_a_row(blocks_of(grid), whole ? 1 : std::max<std::uint64_t>(2, enough.of(kernel, grid)));
        });
    };
    std::vector<LaunchTraffic> row;
    if (thin) {
        row = neighbours(thin, Shares(thin, effort.requests));
    }
    const bool is_thin = thin && are_alike(result.launches, row);  // shorter sums may be another kernel's
    if (!is_thin) {
        row = neighbours(run, shares);
        require_alike(result.launches, row);
    }
    for (std::size_t i = 0; i < row.size(); i++) {
        LaunchTraffic& launch = result.launches[i];
        if (is_whole(result.other_half[i]) || launch.launches == 0) {  // both halves together may be as many blocks
            continue;
        }
        const double loads =
            is_thin ? ratio_of_a_block(result.one_half[i].distinct, row[i].distinct, &DistinctSectors::load_sectors)
                    : 1;
        const double stores =
            is_thin ? ratio_of_a_block(result.one_half[i].distinct, row[i].distinct, &DistinctSectors::store_sectors)
                    : 1;
        launch.distinct = extrapolated(launch, row[i], loads, stores);
        result.one_half[i].distinct = result.other_half[i].distinct = launch.distinct;
    }
    return result;
}

}  // namespace simt
