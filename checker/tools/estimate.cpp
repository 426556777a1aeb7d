// SPDX-License-Identifier: MIT
//
// What a card could do at best with what a program launched: counts of the CPU device (SIMT_TRAFFIC=counts.json), with what
// nvcc emits where that is given (make sass-lessonNN writes it). checker/estimate/README.md is the model.
#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "checker/base/files.h"
#include "checker/estimate/report.h"

namespace {

using namespace checker;
using namespace checker::estimate;

constexpr const char* kUsage =
    "usage: estimate [--card H100,T4 | --card all] [--clock MHz] [--sass FILE]...\n"
    "                [--json] COUNTS.json\n";

struct Options {
    std::vector<GpuSpec> cards;
    std::vector<std::string> sass;
    std::string counts;
    double clock = 0;  // Hz; 0: the cards' own
    bool json = false;
};

double megahertz(const std::string& text) {
    std::size_t end = 0;
    double value = 0;
    try {
        value = std::stod(text, &end);
    } catch (const std::exception&) {}
    if (end != text.size() || !(value >= 1) || !(value <= 10000)) {
        throw std::runtime_error(fmt::format("--clock {}: it is a clock in MHz", text));
    }
    return 1e6 * value;
}

Options parse(const std::vector<std::string>& arguments) {
    Options options;
    std::string cards = "T4,RTX-4090,H100";
    for (std::size_t i = 0; i < arguments.size(); i++) {
        const std::string& argument = arguments[i];
        const auto value = [&]() -> const std::string& {
            if (i + 1 == arguments.size()) {
                throw std::runtime_error(argument + " needs a value");
            }
            return arguments[++i];
        };
        if (argument == "--card") {
            cards = value();
        } else if (argument == "--clock") {
            options.clock = megahertz(value());
        } else if (argument == "--sass") {
            options.sass.push_back(value());
        } else if (argument == "--json") {
            options.json = true;
        } else if (argument.starts_with("--") || !options.counts.empty()) {
            throw std::runtime_error(fmt::format("{} is not known\n{}", argument, kUsage));
        } else {
            options.counts = argument;
        }
    }
    if (options.counts.empty()) {
        throw std::runtime_error(fmt::format("which counts? SIMT_TRAFFIC=counts.json ./x writes them\n{}", kUsage));
    }
    options.cards = cards_named(cards);
    for (GpuSpec& card : options.cards) { card = options.clock > 0 ? card.at(options.clock) : card; }
    return options;
}

void run(const Options& options) {
    std::vector<SassFile> sass;
    for (const std::string& file : options.sass) {
        for (SassFile& one : parse_sass(read_file(file), file)) { sass.push_back(std::move(one)); }
    }
    const std::vector<CardEstimate> estimates =
        estimate_all(options.cards, parse_counts(read_file(options.counts), options.counts), sass);
    fmt::print("{}", options.json ? estimates_as_json(estimates).dump(2) + '\n' : as_text(estimates));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(parse({argv + 1, argv + argc}));
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "estimate: {}\n", error.what());
        return 2;
    }
}
