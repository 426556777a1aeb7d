// SPDX-License-Identifier: MIT
//
// Estimates as text of 80 columns, as one line, and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checker/base/json.h"
#include "checker/estimate/model.h"

namespace checker::estimate {

// What was estimated for one card.
struct CardEstimate {
    Card card;
    std::vector<Estimate> launches;
};

CardEstimate estimate_all(const Card& card, const CountsFile& counts, const std::vector<SassFile>& sass);

// A table of resources for each kernel; with several cards they stand side by side.
std::string as_text(const std::vector<CardEstimate>& cards);
// "at best 59 TFLOP/s, bound by instruction issue"; with no `flop` the time.
std::string in_one_line(const CardEstimate& card, double flop);
Json as_json(const std::vector<CardEstimate>& cards);

}  // namespace checker::estimate
