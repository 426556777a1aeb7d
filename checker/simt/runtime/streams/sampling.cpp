// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/streams/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "checker/simt/runtime/base/random.h"
#include "checker/simt/runtime/streams/streams.h"

namespace simt {
namespace {

struct State {
    std::optional<Sampling> sampling;
    std::vector<SampledLaunch> launches;
};

// One for the one device: the scheduler and whoever runs a check mean the same.
State& state() {
    static auto& instance = *new State;
    return instance;
}

std::vector<std::uint64_t> chosen(std::uint64_t blocks, const Sampling& sampling) {
    std::set<std::uint64_t> numbers = {0, blocks - 1};
    Random random(sampling.seed);
    const auto shared = static_cast<std::uint64_t>(std::ceil(sampling.share * static_cast<double>(blocks)));
    const std::uint64_t wanted = sampling.share > 0
                                     ? std::clamp<std::uint64_t>(shared, numbers.size(), blocks)
                                     : numbers.size() + std::min(sampling.others, blocks - numbers.size());
    if (wanted == blocks) {
        std::vector<std::uint64_t> all(blocks);
        std::iota(all.begin(), all.end(), 0U);
        return all;
    }
    while (numbers.size() < wanted) { numbers.insert(random.below(blocks)); }
    return {numbers.begin(), numbers.end()};
}

}  // namespace

dim3 SampledLaunch::index(std::uint64_t block) const {
    return {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(block / grid.x % grid.y),
            static_cast<unsigned>(block / grid.x / grid.y)};
}

void sample_blocks(std::optional<Sampling> sampling) {
    Streams::instance().wait_for_all();  // work that was issued earlier runs as was wanted then
    state() = {.sampling = sampling, .launches = {}};
}

bool samples_blocks() {
    return state().sampling.has_value();
}

bool libraries_compute() {
    return !state().sampling || state().sampling->libraries_compute;
}

const std::vector<SampledLaunch>& sampled_launches() {
    Streams::instance().wait_for_all();
    return state().launches;
}

double seconds_for_sample() {
    return state().sampling ? state().sampling->seconds : 0;
}

SampledLaunch* sample(const std::string& kernel, dim3 grid) {
    State& now = state();
    if (!now.sampling) {
        return nullptr;
    }
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    now.launches.push_back(
        {.kernel = kernel,
         .grid = grid,
         .blocks = now.sampling->choose ? now.sampling->choose(kernel, grid) : chosen(blocks, *now.sampling)});
    return &now.launches.back();
}

}  // namespace simt
