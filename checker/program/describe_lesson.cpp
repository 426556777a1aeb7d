// SPDX-License-Identifier: MIT
#include "checker/program/describe_lesson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "checker/base/course.h"
#include "checker/base/file_error.h"
#include "checker/base/stub.h"
#include "checker/base/text.h"
#include "checker/judge/report.h"
#include "checker/worker/device_backend.h"

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
    for (const Counter& counter : device_backend().counters()) { names.emplace_back(counter.name); }
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
    if (device_backend().is_host()) {
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

// `given` names the ops whose solution says `// >>> given`, and no others.
void require_given(const LessonToml& toml, const std::string& lesson) {
    std::vector<std::string> given;
    for (const fs::path file : solution_files(lesson)) {
        if (is_given(read_file(fs::path("solutions") / lesson / file))) {
            given.push_back(file.stem().string());
        }
    }
    std::vector<std::string> named = toml.given;
    std::ranges::sort(given);
    std::ranges::sort(named);
    if (given != named) {
        throw FileError(fmt::format("{}: given names {}; the solutions with `// >>> given` are {}", toml.file.string(),
                                    named.empty() ? "nothing" : fmt::format("{}", fmt::join(named, ", ")),
                                    given.empty() ? "none" : fmt::format("{}", fmt::join(given, ", "))));
    }
}

Json json_of(const Target& target) {
    Json result{{"against", to_string(target.against)}};
    if (!target.shapes.empty()) {
        result["bronze"] = target.shares.bronze;
        if (target.of_recorded.gold > 0) {
            result["of_recorded"] = to_json(target.of_recorded);
        } else {
            result["silver"] = target.shares.silver;
            result["gold"] = target.shares.gold;
        }
        if (!target.by_capability.empty()) {
            result["by_capability"] = Json::object(std::map<std::string, double>{});
            for (const auto& [capability, shares] : target.by_capability) {
                result["by_capability"][capability] = to_json(shares);
            }
        }
    }
    if (target.older.gold > 0) {
        result["older"] = to_json(target.older);
    }
    if (target.gap.gold > 0) {
        result["gap"] = to_json(target.gap);
    }
    if (target.threads > 0) {
        result["threads"] = target.threads;
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
    for (const std::string& file : solution_files(lesson.name())) {
        const std::string op = fs::path(file).stem().string();
        if (std::ranges::find(lesson.ops(), op, &Op::name) == lesson.ops().end()) {
            throw FileError(
                fmt::format("nothing would check solutions/{0}/{1}: lessons/{0}/lesson.toml has no [target.{2}]",
                            lesson.name(), file, op));
        }
    }
    require_given(toml, lesson.name());
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

Json outline_of(const LessonToml& toml, const std::string& lesson) {
    Json result{{"lesson", lesson_number(lesson)},
                {"name", lesson},
                {"title", toml.title},
                {"idea", toml.idea},
                {"track", has_kernels(lesson) ? "device" : "host"},
                {"step", is_step(lesson)},
                {"branch_of", toml.branch_of},
                {"requires", Json::array(toml.cards)},
                {"given", Json::array(toml.given)},
                {"precision", Json::object(toml.precision)},
                {"ladder", toml.ladder ? json_of(*toml.ladder) : Json()}};
    result["ops"] = Json::array();
    for (const std::string& op : toml.ops) {
        const Target& target = toml.targets.at(op);
        std::vector<std::string> shapes = target.shapes;
        shapes.insert(shapes.end(), target.reported.begin(), target.reported.end());
        result["ops"].push_back(json_of(op, toml, shapes));
    }
    for (const fs::path file : solution_files(lesson)) {
        if (const std::string op = file.stem().string(); !toml.targets.contains(op)) {
            result["ops"].push_back(json_of(op, toml, {}));
        }
    }
    return result;
}

int describe_lesson(const Lesson& lesson, const Options& options) {
    const LessonToml& toml = lesson.toml();
    require_judged(toml, lesson);
    Json result = outline_of(toml, lesson.name());
    result["ops"] = Json::array();
    for (const Op& op : lesson.ops()) {
        result["ops"].push_back(json_of(op, toml, options.source(lesson.name(), op.name)));
    }
    result["counters"] = Json::array();
    for (const Counter& counter : device_backend().counters()) {
        result["counters"].push_back({{"counter", counter.name}, {"metric", counter.metric}, {"takes", counter.takes}});
    }
    fmt::print("{}\n", result.dump(2));
    return 0;
}

}  // namespace checker
