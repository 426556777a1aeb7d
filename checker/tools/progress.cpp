// SPDX-License-Identifier: MIT
//
// What passes so far: what is known of each of the learner's files as it is now, from results/results.jsonl.
// `--passed LESSON` prints the exercises of one lesson that pass, one a line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/stub.h"
#include "checker/base/text.h"
#include "checker/judge/report.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kNoVerdict = "no verdict";  // right, and its speed too close to the target to tell

bool passes(const json& result) {
    const std::string verdict = result.value("verdict", "");
    return verdict == "ok" || verdict == kNoVerdict;
}

bool is_whole(const json& result) {
    return result.value("all_cases", false);
}

int medal_of(const json& timing) {
    const std::string medal = timing.is_object() ? timing.value("medal", "") : "";
    return medal == "gold" ? 3 : medal == "silver" ? 2 : medal == "bronze" ? 1 : 0;
}

// Returns true if the result is of a right file whose speed was too low or not clear in one timing: an earlier medal of the same text
// outweighs that, as the machine may be busy now.
bool missed_medal_now(const json& result) {
    const std::string verdict = result.value("verdict", "");
    return verdict == kNoVerdict ||
           (verdict == "SLOW" && result.contains("timing") && result.at("timing").value("verdict", "") == "SLOW");
}

// `last` and what came after it, both of the same text, as one. A check of some cases that finds nothing tells nothing
// about the others: an earlier verdict on all of them stays. Of the times the best medal stays, and not every check takes
// times.
json with_earlier(json result, const json& last) {
    if (last.is_null()) {
        return result;
    }
    const json earlier = last.value("timing", json());
    const json now = result.value("timing", json());
    const json timing = now.is_null() || medal_of(earlier) > medal_of(now) ? earlier : now;
    if ((passes(result) && !is_whole(result) && is_whole(last)) ||
        (missed_medal_now(result) && passes(last) && medal_of(earlier) > 0)) {
        result = last;
    }
    if (!timing.is_null()) {
        result["timing"] = timing;
    }
    return result;
}

// What is known of a learner's file: by its text, as it may come back, and the last verdict on any.
struct Results {
    std::map<std::string, json> of_text;  // by fnv1a64
    json last;
};

// Adds what one line says. Throws json::exception if it is not a result.
void take_line(const std::string& line, std::map<std::string, Results>& results) {
    json result = json::parse(line);
    const std::string file = result.at("file"), verdict = result.at("verdict"), subject = result.at("subject");
    if (subject != "lessons") {
        return;
    }
    Results& of_file = results[file];
    json& known = of_file.of_text[result.value("fnv1a64", "")];
    known = with_earlier(std::move(result), known);
    of_file.last = known;
}

// Skips lines that are not results, such as one that a full disk cut short, and says so.
std::map<std::string, Results> read_results(const fs::path& file) {
    std::map<std::string, Results> results;
    std::istringstream lines(checker::read_file_if_there(file).value_or(""));
    std::vector<long> skipped;
    long number = 0;
    for (std::string line; std::getline(lines, line);) {
        number++;
        try {
            take_line(line, results);
        } catch (const json::exception&) { skipped.push_back(number); }
    }
    if (!skipped.empty()) {
        fmt::print(stderr, "note: {}: {} of {} skipped, not a result of a check: line {}\n", file.string(),
                   skipped.size(), checker::format_count(number, "line"), fmt::join(skipped, ", "));
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

struct Status {
    bool passed = false;
    std::string text;
    bool speed_unclear = false;  // passed, without a verdict on its speed
};

Status status_of(const fs::path& file, const std::string& number, const Results& results) {
    if (results.last.is_null()) {
        return {false, "not checked yet"};
    }
    const auto found = results.of_text.find(checker::exercise_digest(file));
    const json& result = found == results.of_text.end() ? results.last : found->second;
    const std::string verdict = result.at("verdict");
    const auto with = [&](const std::string& word, const std::string& rest) {
        return rest.empty() ? word : fmt::format("{:<16}  {}", word, rest);
    };
    if (found == results.of_text.end()) {
        return {false, with(verdict, fmt::format("edited since; make check-lesson{}", number))};
    }
    if (passes(result) && !is_whole(result)) {
        return {false,
                with("some shapes ok", fmt::format("make check-lesson{} ONLY={}", number, file.stem().string()))};
    }
    const bool is_right = passes(result) || verdict == "SLOW";
    return {passes(result), with(verdict, is_right ? time_of(result.value("timing", json())) : ""),
            verdict == kNoVerdict};
}

// A helper is right where its lesson's ops that include it are: the text of both counts.
Status status_of_helper(const std::string& helper, std::map<std::string, Results>& results) {
    const fs::path file = fs::path("lessons") / helper;
    if (checker::is_stub(helper)) {
        return {false, "not written yet"};
    }
    Status status{true, "ok"};
    const std::string lesson = file.parent_path().filename();
    for (const std::string& name : checker::solution_files(lesson)) {
        const fs::path op = file.parent_path() / name;
        if (status.passed && checker::helpers_of(op).contains(helper)) {
            const Status of_op = status_of(op, checker::lesson_number(lesson), results[op.string()]);
            if (!of_op.passed) {
                status = {false, fmt::format("{:<16}  in {}", "not known yet", op.stem().string())};
            }
        }
    }
    return status;
}

// The exercises of a lesson that results tell of and that the lesson no longer has.
std::vector<std::string> gone_from(const std::string& lesson, const std::vector<std::string>& files,
                                   const std::map<std::string, Results>& results) {
    std::vector<std::string> gone;
    for (const auto& [file, of_file] : results) {
        const fs::path path = file;
        if (!of_file.last.is_null() && path.parent_path() == fs::path("lessons") / lesson &&
            std::ranges::count(files, path.filename().string()) == 0) {
            gone.push_back(path.stem().string());
        }
    }
    return gone;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string passed_of = argc == 3 && std::string(argv[1]) == "--passed" ? argv[2] : "";
    try {
        std::map<std::string, Results> results = read_results("results/results.jsonl");
        long passed = 0, unclear = 0;
        std::size_t exercises = 0, width = 16;  // of the column of names
        for (const auto& [lesson, files] : checker::solution_files()) {
            for (const std::string& name : files) { width = std::max(width, fs::path(name).stem().string().size()); }
        }
        for (const auto& [lesson, files] : checker::solution_files()) {  // they are what there is to do
            if (!checker::is_lesson(lesson) || (!passed_of.empty() && lesson != passed_of)) {
                continue;
            }
            const std::string number = checker::lesson_number(lesson);
            if (passed_of.empty()) {
                fmt::print("lesson {} · {}\n", number, checker::lesson_title(lesson));
            }
            const auto show = [&](const fs::path& file, const Status& status) {
                exercises++;
                passed += status.passed ? 1 : 0;
                unclear += status.speed_unclear ? 1 : 0;
                if (passed_of.empty()) {
                    fmt::print("  {:<{}}  {}\n", file.stem().string(), width, status.text);
                } else if (status.passed) {
                    fmt::print("{}\n", file.stem().string());
                }
            };
            for (const std::string& helper : checker::helper_files()) {
                if (helper.starts_with(lesson + "/")) {
                    show(helper, status_of_helper(helper, results));
                }
            }
            std::vector<std::string> own;
            for (const std::string& name : files) {
                const fs::path file = fs::path("lessons") / lesson / name;
                if (!checker::is_given(checker::read_file(fs::path("solutions") / lesson / name))) {
                    own.push_back(name);
                    show(file, status_of(file, number, results[file.string()]));
                }
            }
            if (const auto gone = gone_from(lesson, own, results); passed_of.empty() && !gone.empty()) {
                fmt::print("  rebuilt since you did {}: CHANGELOG.md says what became of it\n", fmt::join(gone, ", "));
            }
        }
        if (passed_of.empty()) {
            fmt::print("{} of {} exercises pass{}\n", passed, exercises,
                       unclear == 0 ? "" : fmt::format(", {} of them without a verdict on its speed", unclear));
        }
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    }
}
