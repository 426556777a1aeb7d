// SPDX-License-Identifier: MIT
#include "checker/program/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "checker/base/course.h"
#include "checker/base/text.h"

namespace checker {

std::string Options::only_case() const {
    const std::size_t slash = only.find('/');
    return slash == std::string::npos ? "" : only.substr(slash + 1);
}

bool Options::wants(const std::string& op, const std::string& case_name) const {
    return wants(op) && (only_case().empty() || only_case() == case_name);
}

std::vector<std::string> Options::for_worker() const {
    return {"--lesson-dir",    lesson_dir.string(),    "--impl-dir", impl_dir.string(),
            "--reference-dir", reference_dir.string(), "--cases",    cases.string()};
}

std::filesystem::path Options::source(const std::string& lesson, const std::string& op) const {
    namespace fs = std::filesystem;
    const bool known = subject == "lessons" || subject == "solutions";
    const fs::path kernel = (known ? fs::path(subject) / lesson : fs::path(subject)) / (op + ".cu");
    const fs::path host = fs::path(kernel).replace_extension(".cpp");
    if (!known || fs::exists(kernel) || fs::exists(host)) {
        return fs::exists(kernel) ? kernel : host;
    }
    const fs::path newest = newest_solution(lesson, op);
    return newest.empty() ? host : fs::path(subject) / newest.lexically_relative("solutions");
}

namespace {

// An option and what it sets: a flag to the value that it says, another to the argument that follows it.
struct Option {
    std::string_view name, help;
    std::variant<std::pair<bool*, bool>, std::string*, std::filesystem::path*> sets;
};

void read_options(const std::vector<Option>& known, const std::vector<std::string>& arguments) {
    for (auto at = arguments.begin(); at != arguments.end(); ++at) {
        const std::size_t equals = at->find('=');
        const std::string name = *at == "-h" ? "--help" : at->substr(0, equals);
        const auto option = std::ranges::find(known, name, &Option::name);
        if (option == known.end()) {
            std::vector<std::string> names;
            for (const Option& one : known) { names.emplace_back(one.name); }
            throw std::invalid_argument(fmt::format("there is no option {}{}", name, did_you_mean(name, names)));
        }
        const auto* flag = std::get_if<std::pair<bool*, bool>>(&option->sets);
        if (flag != nullptr ? equals != std::string::npos : equals == std::string::npos && ++at == arguments.end()) {
            throw std::invalid_argument(fmt::format("{} {} argument", name, flag ? "takes no" : "needs an"));
        }
        if (flag != nullptr) {
            *flag->first = flag->second;
        } else if (const std::string value = equals == std::string::npos ? *at : at->substr(equals + 1);
                   const auto* text = std::get_if<std::string*>(&option->sets)) {
            **text = value;
        } else {
            *std::get<std::filesystem::path*>(option->sets) = value;
        }
    }
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv, const std::string& lesson) {
    Options options;
    const auto on = [](bool& flag) { return std::pair(&flag, true); };
    bool help = false;
    const std::vector<Option> known{
        {"--help", "this list", on(help)},
        {"--subject", "whose files: lessons, solutions, or a folder of sources", &options.subject},
        {"--lesson-dir", "the folder with lesson.toml", &options.lesson_dir},
        {"--impl-dir", "the folder with OP.so of the subject", &options.impl_dir},
        {"--reference-dir", "the folder with OP.so of the solution", &options.reference_dir},
        {"--log-dir", "the folder with OP.log, which has what the compiler said", &options.log_dir},
        {"--cases", "the folder with cases/", &options.cases},
        {"--only", "OP, OP/CASE or OP/timing", &options.only},
        {"--no-timing", "right or wrong only", on(options.no_timing)},
        {"--no-large", "no case whose output only the device has room for", on(options.no_large)},
        {"--timing-only", "the times only", on(options.timing_only)},
        {"--verbose", "every case and every finding", on(options.verbose)},
        {"--roof", "this machine's roof; --timing-only measures it where it is missing", &options.roof},
        {"--device", "what the verdict calls the device: the card's name", &options.device},
        {"--more", "another device's check follows: a pass does not say what comes next",
         std::pair(&options.last, false)},
        {"--json", "write the verdict to this file", &options.json},
        {"--results", "append one JSON line an op to this file", &options.results},
        {"--one-thread", "no check: look at the thread of SIMT_STOP or SIMT_TRACE", on(options.one_thread)},
        {"--traffic", "no check: what the kernels ask of memory, by line; --json writes it", on(options.traffic)},
        {"--estimate", "no check: what cards could do at best with the kernels; --json writes it",
         on(options.estimate)},
        {"--at-best", "an estimate of what right kernels could reach on an H100", on(options.at_best)},
        {"--archs", "of --estimate: say what nvcc compiles for the cards", on(options.archs)},
        {"--quick", "of --estimate: from fewer blocks", on(options.quick)},
        {"--cards", "of --estimate: T4,H100, or all", &options.cards},
        {"--counts", "of --estimate: write what was counted to this file", &options.counts},
        {"--describe", "no check: what the lesson is, as JSON: ops, shapes, targets, counters", on(options.describe)},
        {"--worker", "the check starts itself with this", on(options.worker)}};
    read_options(known, {argv + 1, argv + argc});
    if (help) {
        fmt::print("The check of lesson {}. GoogleTest's options (--gtest_filter=...) work too.\n\n", lesson);
        for (const Option& option : known) { fmt::print("  {:<16} {}\n", option.name, option.help); }
        return std::nullopt;
    }
    const std::filesystem::path impl = "build/impl";
    if (options.lesson_dir.empty()) {
        options.lesson_dir = std::filesystem::path("lessons") / lesson;
    }
    if (options.impl_dir.empty()) {
        options.impl_dir = impl / options.subject / lesson;
    }
    if (options.reference_dir.empty()) {
        options.reference_dir = impl / "solutions" / lesson;
    }
    if (options.log_dir.empty()) {
        options.log_dir = std::filesystem::path("build/ops") / options.subject / lesson;
    }
    return options;
}

}  // namespace checker
