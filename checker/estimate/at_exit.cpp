// SPDX-License-Identifier: MIT
//
// Prints what SIMT_ESTIMATE asks for when a program of the CPU device ends (simt/runtime/counting/estimate_report.h).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/base/files.h"
#include "checker/base/text.h"
#include "checker/estimate/report.h"

namespace checker::estimate {
namespace {

void print(std::string_view wanted, std::string_view sass_paths, std::string_view counts) {
    const std::size_t colon = std::min(wanted.find(':'), wanted.size());
    const std::vector<GpuSpec> cards = cards_named(wanted.substr(0, colon));
    std::vector<SassFile> sass;
    for (const std::string_view part : split(sass_paths, ',')) {
        const std::string path(part);
        std::ranges::move(parse_sass(read_file(path), path), std::back_inserter(sass));
    }
    const std::vector<CardEstimate> estimates = estimate_all(cards, parse_counts(counts, "the counts"), sass);
    if (colon == wanted.size()) {
        fmt::print(stderr, "{}", as_text(estimates));
    } else {
        write_whole(std::string(wanted.substr(colon + 1)), estimates_as_json(estimates).dump(2) + '\n');
    }
}

}  // namespace
}  // namespace checker::estimate

// `wanted` is the value of SIMT_ESTIMATE, `sass` that of SIMT_SASS, `counts` JSON.
extern "C" void sol_print_estimate(const char* wanted, const char* sass, const char* counts) {
    try {
        checker::estimate::print(wanted, sass, counts);
    } catch (const std::exception& error) { fmt::print(stderr, "simt: SIMT_ESTIMATE={}: {}\n", wanted, error.what()); }
}
