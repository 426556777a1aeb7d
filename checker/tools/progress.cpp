// SPDX-License-Identifier: MIT
//
// What passes so far: the last verdict on each of the learner's files, from results/results.jsonl.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "checker/base/files.h"
#include "checker/base/text.h"
#include "checker/judge/report.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using Results = std::map<std::string, json>;  // by the learner's file, the last line on each

Results read_results(const fs::path& file) {
    Results results;
    std::istringstream lines(checker::read_file_if_there(file).value_or(""));
    for (std::string line; std::getline(lines, line);) {
        json result = json::parse(line, nullptr, false);
        // A line that a full disk cut short, or that another version wrote, says nothing.
        if (result.is_discarded() || !result.contains("file") || result.value("subject", "") != "lessons") {
            continue;
        }
        json& last = results[result.at("file")];
        // Times are not taken by every check: the last known ones of the same text stay.
        if (!result.contains("timing") && last.contains("timing") && last.at("fnv1a64") == result.at("fnv1a64")) {
            result["timing"] = last.at("timing");
        }
        last = std::move(result);
    }
    return results;
}

std::string time_of(const json& timing) {
    if (!timing.is_object() || !timing.value("share", json()).is_number()) {
        return "not timed yet";
    }
    const std::string medal = timing.value("medal", "");
    return fmt::format("{}{} of {} speed", medal.empty() ? "" : medal + ", ", checker::percent(timing.at("share")),
                       checker::whose(timing.value("against", ""), timing.value("library", "")));
}

struct Lesson {
    std::string name;  // 01_layers
    std::string title;
    std::vector<std::string> ops;
};

std::vector<Lesson> read_lessons() {
    std::vector<Lesson> lessons;
    for (const fs::directory_entry& entry : fs::directory_iterator("lessons")) {
        const fs::path file = entry.path() / "lesson.toml";
        if (!fs::exists(file)) {
            continue;
        }
        const toml::table table = toml::parse_file(file.string());
        Lesson lesson{.name = entry.path().filename().string(), .title = table["title"].value_or(""), .ops = {}};
        if (const toml::array* ops = table["ops"].as_array()) {
            ops->for_each([&](const toml::value<std::string>& op) { lesson.ops.push_back(*op); });
        }
        lessons.push_back(std::move(lesson));
    }
    std::ranges::sort(lessons, {}, &Lesson::name);
    return lessons;
}

bool passes(const std::string& verdict) {
    return verdict == "ok" || verdict == "no verdict";
}

}  // namespace

int main() {
    try {
        const Results results = read_results("results/results.jsonl");
        int passed = 0;
        int exercises = 0;
        for (const Lesson& lesson : read_lessons()) {
            fmt::print("lesson {} · {}\n", checker::lesson_number(lesson.name), lesson.title);
            for (const std::string& op : lesson.ops) {
                std::string file = fmt::format("lessons/{}/{}.cu", lesson.name, op);
                if (!fs::exists(file)) {
                    file = fmt::format("lessons/{}/{}.cpp", lesson.name, op);
                }
                const auto found = results.find(file);
                exercises++;
                if (found == results.end()) {
                    fmt::print("  {:<16}  not checked yet\n", op);
                    continue;
                }
                const json& result = found->second;
                const std::string verdict = result.at("verdict");
                const bool same_text = result.value("fnv1a64", "") == checker::fnv1a64(file);
                const bool is_right = passes(verdict) || verdict == "SLOW";
                passed += passes(verdict) && same_text;
                std::string rest = is_right ? time_of(result.value("timing", json())) : "";
                if (!same_text) {
                    rest = fmt::format("edited since; make check-lesson{}", checker::lesson_number(lesson.name));
                }
                fmt::print("  {:<16}  {}\n", op,
                           rest.empty() ? verdict : fmt::format("{:<16}  {}", passes(verdict) ? "ok" : verdict, rest));
            }
        }
        fmt::print("{} of {} exercises pass\n", passed, exercises);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
