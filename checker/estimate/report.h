// SPDX-License-Identifier: MIT
//
// Estimates as text of 80 columns, as a phrase, and as JSON.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "checker/base/json.h"
#include "checker/estimate/model.h"

namespace checker::estimate {

// What was estimated for one card: the launches of a program, or of a call.
struct CardEstimate {
    GpuSpec card;
    std::vector<Estimate> launches;
    double seconds() const { return seconds_of(launches); }
    bool is_launchable() const { return std::ranges::all_of(launches, &Estimate::launchable); }
};

CardEstimate estimate_all(const GpuSpec& card, const std::vector<LaunchCounts>& launches,
                          const std::vector<SassFile>& sass);
std::vector<CardEstimate> estimate_all(const std::vector<GpuSpec>& cards, const std::vector<LaunchCounts>& launches,
                                       const std::vector<SassFile>& sass);

// A table of resources for each kernel, the cards side by side; then the sum where there are several; then the band.
std::string as_text(const std::vector<CardEstimate>& cards);
// "on H100 SXM at best 59.1 TFLOP/s, bound by instruction issue"; where no FLOP are known, the time. A card that cannot
// launch it gets neither.
std::string in_one_line(const CardEstimate& card, double flop);
inline constexpr const char* kNotLaunchable = "not launchable";  // in place of a time; a note says why
// Of each card `kernels`, their launches added up, and `launches`, one by one in their order.
Json estimates_as_json(const std::vector<CardEstimate>& cards);

}  // namespace checker::estimate
