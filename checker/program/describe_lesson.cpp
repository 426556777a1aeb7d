// SPDX-License-Identifier: MIT
#include "checker/program/describe_lesson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "checker/base/file_error.h"
#include "checker/base/text.h"
#include "checker/worker/device_side.h"

namespace checker {
namespace {

namespace fs = std::filesystem;

// The counters of which check.cpp says how much a call of the op needs.
std::vector<std::string> needed_of(const Op& op) {
    std::set<std::string> names;
    for (const Case& c : op.cases) {
        for (const Call& call : c.calls) {
            for (const Needed& needed : call.needed) { names.insert(needed.counter); }
        }
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> counters_here() {
    std::vector<std::string> names;
    if (device_side() != nullptr) {
        for (const Counter& counter : device_side()->counters()) { names.emplace_back(counter.name); }
    }
    return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

void require_op(const LessonToml& toml, const Lesson& lesson, const std::string& table, const std::string& op) {
    std::vector<std::string> known;
    for (const Op& one : lesson.ops()) { known.push_back(one.name); }
    if (!has(known, op)) {
        throw FileError(
            fmt::format("{} is of no op of the lesson{}", toml.where(table + "." + op), did_you_mean(op, known)));
    }
}

void require_counter(const LessonToml& toml, const Op& op, const std::string& counter) {
    const std::vector<std::string> needed = needed_of(op), counters = counters_here();
    const std::string place = toml.where(fmt::format("counters.{}.{}", op.name, counter));
    if (device_side() == nullptr) {
        throw FileError(fmt::format("{} counts nothing: the lesson has no kernels", place));
    }
    if (!counters.empty() && !has(counters, counter)) {
        throw FileError(fmt::format("{} is no counter{}", place, did_you_mean(counter, counters)));
    }
    if (!has(needed, counter)) {
        throw FileError(fmt::format("{} would never be judged: check.cpp does not say how much of it {} needs{}", place,
                                    op.name, did_you_mean(counter, needed)));
    }
}

// The files of each lesson's solution.
std::map<std::string, std::vector<fs::path>> solution_files() {
    std::map<std::string, std::vector<fs::path>> files;
    std::error_code error;
    for (const auto& lesson : fs::directory_iterator("solutions", error)) {
        for (const auto& entry : fs::directory_iterator(lesson.path(), error)) {
            const fs::path file = entry.path().filename();
            if (file.extension() == ".cpp" || file.extension() == ".cu") {
                files[lesson.path().filename().string()].push_back(file);
            }
        }
    }
    return files;
}

Json json_of(const Target& target) {
    Json result{{"against", to_string(target.against)}};
    if (!target.shapes.empty()) {
        result["bronze"] = target.shares.bronze;
        result["silver"] = target.shares.silver;
        result["gold"] = target.shares.gold;
    }
    for (const auto& [key, value] : {std::pair("older", target.older), std::pair("threads", target.threads)}) {
        if (value > 0) {
            result[key] = value;
        }
    }
    return result;
}

// What lesson.toml says of an op that is timed at these shapes.
Json json_of(const std::string& op, const LessonToml& toml, const std::vector<std::string>& shapes) {
    const auto target = toml.targets.find(op);
    const auto counters = toml.counters.find(op);
    const bool has_target = target != toml.targets.end();
    Json result{{"op", op}, {"target", has_target ? json_of(target->second) : Json()}};
    result["shapes"] = Json::array();
    for (const std::string& shape : shapes) {
        result["shapes"].push_back({{"shape", shape}, {"judged", has_target && target->second.judges(shape)}});
    }
    result["counters"] = counters == toml.counters.end() ? Json::object() : Json::object(counters->second);
    return result;
}

Json json_of(const Op& op, const LessonToml& toml, const fs::path& file) {
    std::vector<std::string> shapes;
    for (const Timed& timed : op.timed) { shapes.push_back(timed.shape); }
    Json result = json_of(op.name, toml, shapes);
    for (std::size_t i = 0; i < op.timed.size(); i++) {
        Json& shape = result["shapes"][i];
        shape["bytes"] = op.timed[i].bytes_moved;
        shape["flop"] = op.timed[i].flop;
    }
    result["file"] = file.string();
    result["cases"] = Json::array();
    for (const Case& c : op.cases) { result["cases"].push_back({{"case", c.name}, {"shape", c.shape}}); }
    return result;
}

Json json_of(const Ladder& ladder) {
    return {{"random_shapes", ladder.random_shapes}, {"multiple_of", Json::object(ladder.multiple_of)}};
}

}  // namespace

void require_judged(const LessonToml& toml, const Lesson& lesson) {
    for (const auto& [op, target] : toml.targets) { require_op(toml, lesson, "target", op); }
    for (const auto& [name, counters] : toml.counters) {
        require_op(toml, lesson, "counters", name);
        const Op& op = *std::ranges::find(lesson.ops(), name, &Op::name);
        for (const auto& [counter, at_most] : counters) { require_counter(toml, op, counter); }
    }
    const auto solutions = solution_files();
    if (const auto files = solutions.find(lesson.name()); files != solutions.end()) {
        for (const fs::path& file : files->second) {
            if (std::ranges::find(lesson.ops(), file.stem().string(), &Op::name) == lesson.ops().end()) {
                throw FileError(
                    fmt::format("nothing would check solutions/{}/{}: lessons/{}/lesson.toml has no [target.{}]",
                                lesson.name(), file.string(), lesson.name(), file.stem().string()));
            }
        }
    }
    const std::vector<std::string> known = counters_here();
    for (const Op& op : lesson.ops()) {
        for (const std::string& counter : needed_of(op)) {
            if (!known.empty() && !has(known, counter)) {
                throw FileError(fmt::format("check.cpp: {} needs {}, which is no counter{}", op.name, counter,
                                            did_you_mean(counter, known)));
            }
        }
    }
}

bool has_kernels(const std::string& lesson) {
    const auto files = solution_files();
    const auto here = files.find(lesson);
    return here != files.end() &&
           std::ranges::any_of(here->second, [](const fs::path& file) { return file.extension() == ".cu"; });
}

bool is_step(const std::string& lesson) {
    const std::string shared = "forward", extension = has_kernels(lesson) ? ".cu" : ".cpp";
    std::set<std::string> all, served{shared};
    bool has_model = false;
    const auto lessons = solution_files();
    for (const auto& [name, files] : lessons) {
        for (const fs::path& file : files) {
            const std::string op = file.stem().string();
            if (!has_model) {
                all.insert(op);
            }
            if (name <= lesson && file.extension() == extension) {
                served.insert(op);
            }
        }
        has_model = has_model || all.contains(shared);
    }
    return lessons.contains(lesson) && has_model && std::ranges::includes(served, all);
}

Json outline_of(const LessonToml& toml, const std::string& lesson) {
    Json result{{"lesson", lesson_number(lesson)},
                {"name", lesson},
                {"title", toml.title},
                {"idea", toml.idea},
                {"track", has_kernels(lesson) ? "device" : "host"},
                {"step", is_step(lesson)},
                {"requires", Json::array(toml.cards)},
                {"ladder", toml.ladder ? json_of(*toml.ladder) : Json()}};
    const std::vector<fs::path> files = solution_files()[lesson];
    std::vector<std::string> others;
    for (const fs::path& file : files) {
        if (!toml.targets.contains(file.stem().string())) {
            others.push_back(file.stem().string());
        }
    }
    std::ranges::sort(others);
    result["ops"] = Json::array();
    for (const std::string& op : toml.ops) {
        const Target& target = toml.targets.at(op);
        std::vector<std::string> shapes = target.shapes;
        shapes.insert(shapes.end(), target.reported.begin(), target.reported.end());
        result["ops"].push_back(json_of(op, toml, shapes));
    }
    for (const std::string& op : others) { result["ops"].push_back(json_of(op, toml, {})); }
    return result;
}

std::string description_of(const LessonToml& toml, const Lesson& lesson, const Options& options) {
    Json result = outline_of(toml, lesson.name());
    result["ops"] = Json::array();
    for (const Op& op : lesson.ops()) {
        result["ops"].push_back(json_of(op, toml, options.source(lesson.name(), op.name)));
    }
    result["counters"] = Json::array();
    if (device_side() != nullptr) {
        for (const Counter& counter : device_side()->counters()) {
            result["counters"].push_back(
                {{"counter", counter.name}, {"metric", counter.metric}, {"takes", counter.takes}});
        }
    }
    return result.dump(2) + "\n";
}

}  // namespace checker
