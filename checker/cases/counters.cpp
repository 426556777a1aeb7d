// SPDX-License-Identifier: MIT
#include "checker/cases/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "checker/base/text.h"

namespace checker {

namespace {

struct Words {
    const char* name;   // in lesson.toml
    const char* takes;  // with a number
};

constexpr std::array<Words, kCounters> kWords{{
    {"bytes_asked", "asks for {} bytes of global memory"},
    {"bytes_moved", "moves {} bytes of global memory"},
    {"requests", "makes {} requests to global memory"},
    {"sectors", "moves {} sectors of global memory"},
    {"shared_bytes_asked", "loads {} bytes from shared memory"},
    {"shared_bytes_distinct", "loads {} different bytes from shared memory"},
    {"excess_wavefronts", "loses {} wavefronts of shared memory to bank conflicts"},
    {"barriers", "makes its warps wait {} times at a barrier"},
}};

const Words& words_of(Counter counter) {
    return kWords[static_cast<std::size_t>(counter)];
}

}  // namespace

std::string to_string(Counter counter) {
    return words_of(counter).name;
}

Cost cost_of(Counter counter) {
    switch (counter) {
        case Counter::excess_wavefronts:
            return Cost::conflicts;
        case Counter::barriers:
            return Cost::barriers;
        case Counter::shared_bytes_asked:
        case Counter::shared_bytes_distinct:
            return Cost::loaded;
        default:
            return Cost::moved;
    }
}

std::optional<Counter> counter_of(std::string_view name) {
    const auto found = std::ranges::find(kWords, name, &Words::name);
    return found == kWords.end() ? std::nullopt : std::optional(static_cast<Counter>(found - kWords.begin()));
}

std::string text_of(const Counted& counted) {
    const std::string takes =
        fmt::format(fmt::runtime(words_of(counted.counter).takes), checker::counted(std::lround(counted.value)));
    return counted.needed > 0
               ? fmt::format("{}, {} the {} that are needed", takes, times(counted.value / counted.needed),
                             checker::counted(std::lround(counted.needed)))
               : takes;
}

}  // namespace checker
