// SPDX-License-Identifier: MIT
//
// Estimates of many launches at once: {"sass": {"files": […]}, "rows": [{"card": "A6000", "clock": 1410, "counts": {"launches":
// […]}}, …]} from standard input, a list of as many estimates to standard output. Clocks are in MHz; null: the card's own.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "checker/base/json.h"
#include "checker/estimate/cards.h"
#include "checker/estimate/counts.h"
#include "checker/estimate/model.h"
#include "checker/estimate/sass.h"

namespace {

using checker::Json;
using namespace checker::estimate;

// Each launch takes the largest of its times; the limit of several is the resource whose launches take most.
Json priced(const Json& row, const std::vector<SassFile>& sass) {
    GpuSpec card = card_named(row.at("card").text());
    if (const Json* clock = row.find("clock"); clock != nullptr && !clock->is_null()) {
        card = card.at(clock->number() * 1e6);
    }
    std::vector<Estimate> launches;
    for (const LaunchCounts& launch : launches_of(row.at("counts"))) {
        launches.push_back(estimate(card, launch, find_kernel(sass, launch, card.sass)));
    }
    const Estimate& longest = *std::ranges::max_element(launches, {}, &Estimate::total);
    Json times = Json::object();
    for (std::size_t i = 0; i < kResources; i++) {
        const auto resource = static_cast<Resource>(i);
        double seconds = 0;
        for (const Estimate& launch : launches) { seconds += launch.at(resource); }
        if (seconds != 0) {
            times[name_of(resource)] = seconds;
        }
    }
    return {{"seconds", seconds_of(launches)},
            {"limit", name_of(longest.limit())},
            {"next", name_of(longest.next())},
            {"from_sass", std::ranges::all_of(launches, &Estimate::from_sass)},
            {"resident_blocks", longest.occupied.blocks},
            {"times", std::move(times)}};
}

}  // namespace

int main() {
    try {
        const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
        const Json wanted = Json::parse(text);
        const std::vector<SassFile> sass = parse_sass(wanted.at("sass").dump(), "standard input");
        Json all = Json::array();
        for (const Json& row : wanted.at("rows").elements()) { all.push_back(priced(row, sass)); }
        std::cout << all.dump() << '\n';
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "price: " << error.what() << '\n';
        return 2;
    }
}
