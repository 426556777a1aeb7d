// SPDX-License-Identifier: MIT
//
// What passes so far: the last verdict on each of the learner's files, from results/results.jsonl.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checker/base/files.h"
#include "checker/base/text.h"
#include "checker/judge/report.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool passes(const json& result) {
    const std::string verdict = result.value("verdict", "");
    return verdict == "ok" || verdict == "no verdict";
}

bool is_whole(const json& result) {
    return result.value("all_cases", false);
}

bool is_of_same_text(const json& a, const json& b) {
    return a.value("fnv1a64", "a") == b.value("fnv1a64", "b");
}

// `last` and what came after it, as one. A check of some cases that finds nothing tells nothing about the others: an
// earlier verdict on all of them, and on the same text, stays. Not every check takes times: the last known ones of the
// same text stay too.
json with_earlier(json result, const json& last) {
    if (!last.is_object() || !is_of_same_text(result, last)) {
        return result;
    }
    const json timing = result.contains("timing") ? result.at("timing") : last.value("timing", json());
    if (passes(result) && !is_whole(result) && is_whole(last)) {
        result = last;
    }
    if (!timing.is_null()) {
        result["timing"] = timing;
    }
    return result;
}

using Results = std::map<std::string, json>;  // by the learner's file

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
        last = with_earlier(std::move(result), last);
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

struct Exercise {
    std::string op;
    std::string file;  // the learner's
};

struct LessonProgress {
    std::string name;  // 01_layers
    std::vector<Exercise> exercises;
};

// What `ls` shows: a lesson's exercises are what its solution has files of.
std::vector<LessonProgress> read_lessons() {
    std::vector<LessonProgress> lessons;
    for (const fs::directory_entry& folder : fs::directory_iterator("solutions")) {
        LessonProgress lesson{.name = folder.path().filename().string(), .exercises = {}};
        if (!checker::is_lesson(lesson.name)) {
            continue;
        }
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            const fs::path file = entry.path().filename();
            if (file.extension() == ".cpp" || file.extension() == ".cu") {
                lesson.exercises.push_back({file.stem().string(), ("lessons" / fs::path(lesson.name) / file).string()});
            }
        }
        std::ranges::sort(lesson.exercises, {}, &Exercise::op);
        lessons.push_back(std::move(lesson));
    }
    std::ranges::sort(lessons, {}, &LessonProgress::name);
    return lessons;
}

struct Status {
    bool passed = false;
    std::string text;
};

// An exercise by its last verdict, which is null where there is none.
Status status_of(const Exercise& exercise, const std::string& number, const json& result) {
    if (result.is_null()) {
        return {false, "not checked yet"};
    }
    const std::string verdict = passes(result) ? "ok" : std::string(result.at("verdict"));
    const auto with = [&](const std::string& word, const std::string& rest) {
        return rest.empty() ? word : fmt::format("{:<16}  {}", word, rest);
    };
    if (result.value("fnv1a64", "") != checker::fnv1a64(exercise.file)) {
        return {false, with(verdict, fmt::format("edited since; make check-lesson{}", number))};
    }
    if (passes(result) && !is_whole(result)) {
        return {false, with("some shapes ok", fmt::format("make check-lesson{} ONLY={}", number, exercise.op))};
    }
    const bool is_right = passes(result) || verdict == "SLOW";
    return {passes(result), with(verdict, is_right ? time_of(result.value("timing", json())) : "")};
}

}  // namespace

int main() {
    try {
        const Results results = read_results("results/results.jsonl");
        long passed = 0;
        std::size_t exercises = 0;
        for (const LessonProgress& lesson : read_lessons()) {
            const std::string number = checker::lesson_number(lesson.name);
            fmt::print("lesson {} · {}\n", number, checker::lesson_title(lesson.name));
            for (const Exercise& exercise : lesson.exercises) {
                const auto found = results.find(exercise.file);
                const Status status = status_of(exercise, number, found == results.end() ? json() : found->second);
                passed += status.passed ? 1 : 0;
                fmt::print("  {:<16}  {}\n", exercise.op, status.text);
            }
            exercises += lesson.exercises.size();
        }
        fmt::print("{} of {} exercises pass\n", passed, exercises);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
