// SPDX-License-Identifier: MIT
#include "checker/cases/counters.h"

#include <fmt/format.h>

#include <cmath>

#include "checker/base/text.h"

namespace checker {

std::string text_of(const CounterResult& counted) {
    const std::string takes =
        fmt::format(fmt::runtime(counted.takes), checker::format_count(std::lround(counted.value)));
    return counted.needed > 0
               ? fmt::format("{}, {} the {} that are needed", takes, times(counted.value / counted.needed),
                             checker::format_count(std::lround(counted.needed)))
               : takes;
}

}  // namespace checker
