// SPDX-License-Identifier: MIT
#include "checker/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checker/text.h"

namespace checker {

std::string to_string(Counter counter) {
    switch (counter) {
        case Counter::bytes_asked:
            return "bytes_asked";
        case Counter::bytes_moved:
            return "bytes_moved";
        case Counter::requests:
            return "requests";
        case Counter::sectors:
            return "sectors";
        case Counter::shared_bytes_asked:
            return "shared_bytes_asked";
        case Counter::shared_bytes_distinct:
            return "shared_bytes_distinct";
        case Counter::excess_wavefronts:
            return "excess_wavefronts";
    }
    return "";
}

std::optional<Counter> counter_of(std::string_view name) {
    const auto found = std::ranges::find_if(kAllCounters, [&](Counter c) { return to_string(c) == name; });
    return found == kAllCounters.end() ? std::nullopt : std::optional(*found);
}

static const char* words_of(Counter counter) {
    switch (counter) {
        case Counter::bytes_asked:
            return "asks for {} bytes of global memory";
        case Counter::bytes_moved:
            return "moves {} bytes of global memory";
        case Counter::requests:
            return "makes {} requests to global memory";
        case Counter::sectors:
            return "moves {} sectors of global memory";
        case Counter::shared_bytes_asked:
            return "asks for {} bytes of shared memory";
        case Counter::shared_bytes_distinct:
            return "takes {} distinct bytes from shared memory";
        case Counter::excess_wavefronts:
            return "takes {} wavefronts of shared memory more than without bank conflicts";
    }
    return "{}";
}

std::string text_of(const Counted& counted) {
    const std::string takes =
        fmt::format(fmt::runtime(words_of(counted.counter)), checker::counted(std::lround(counted.value)));
    return counted.needed > 0
               ? fmt::format("{}, {} the {} that are needed", takes, times(counted.value / counted.needed),
                             checker::counted(std::lround(counted.needed)))
               : takes;
}

}  // namespace checker
