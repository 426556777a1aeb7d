// SPDX-License-Identifier: MIT
#include "checker/cases/lesson_toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>

#include "checker/base/file_error.h"

namespace checker {
namespace {

constexpr std::array kKeys{"against", "bronze", "silver", "gold", "older", "threads", "shapes", "reported"};

std::optional<Rival> rival_of(const std::string& text) {
    for (const Rival rival : {Rival::copy, Rival::solution, Rival::library}) {
        if (text == to_string(rival)) {
            return rival;
        }
    }
    return std::nullopt;
}

std::vector<std::string> strings(const toml::array* array) {
    std::vector<std::string> result;
    for (std::size_t i = 0; array != nullptr && i < array->size(); i++) { result.push_back((*array)[i].value_or("")); }
    return result;
}

// What is wrong with a target, or empty.
std::string read_target(const toml::table& row, Target& target) {
    for (const auto& [key, value] : row) {
        if (std::ranges::find(kKeys, std::string(key.str())) == kKeys.end()) {
            return fmt::format("has the key {}, which means nothing", key.str());
        }
    }
    const std::optional<Rival> against = rival_of(row["against"].value_or(""));
    if (!against) {
        return "needs against = \"copy\", \"solution\" or \"library\"";
    }
    target.against = *against;
    target.shapes = strings(row["shapes"].as_array());
    target.reported = strings(row["reported"].as_array());
    if (target.shapes.empty() && row.contains("bronze")) {
        return "needs shapes = [\"N=…\", …]";
    }
    target.shares = {row["bronze"].value_or(0.0), row["silver"].value_or(0.0), row["gold"].value_or(0.0)};
    if (!target.shapes.empty() && !(0 < target.shares.bronze && target.shares.bronze < target.shares.silver &&
                                    target.shares.silver < target.shares.gold)) {
        return "needs bronze, silver and gold, rising shares above 0";
    }
    target.older = row["older"].value_or(0.0);
    target.threads = row["threads"].value_or(0.0);
    return "";
}

// What is wrong with an op's counters, or empty.
std::string read_counters(const toml::table& row, std::map<std::string, double>& counters) {
    for (const auto& [key, value] : row) {
        double& at_most = counters[std::string(key.str())];
        at_most = value.value_or(0.0);
        if (!(at_most >= 1)) {
            return fmt::format("needs {} as a number from 1 on: times what is needed", key.str());
        }
    }
    return "";
}

}  // namespace

bool Target::judges(const std::string& shape) const {
    return !shapes.empty() && std::ranges::find(reported, shape) == reported.end();
}

LessonToml read_lesson_toml(const std::filesystem::path& file) {
    LessonToml result;
    toml::table lesson;
    try {
        lesson = toml::parse_file(file.string());
    } catch (const toml::parse_error& e) {
        throw FileError(fmt::format("{}:{}: {}", file.string(), e.source().begin.line, e.description()));
    }
    result.step = lesson["step"].value_or(false);
    if (const toml::table* counters = lesson["counters"].as_table()) {
        for (const auto& [op, node] : *counters) {
            const std::string problem = node.is_table()
                                            ? read_counters(*node.as_table(), result.counters[std::string(op.str())])
                                            : "is no table";
            if (!problem.empty()) {
                throw FileError(fmt::format("{}: [counters.{}] {}", file.string(), op.str(), problem));
            }
        }
    }
    const toml::table* targets = lesson["target"].as_table();
    if (targets == nullptr) {
        return result;
    }
    for (const auto& [op, node] : *targets) {
        Target target;
        const std::string problem = node.is_table() ? read_target(*node.as_table(), target) : "is no table";
        if (!problem.empty()) {
            throw FileError(fmt::format("{}: [target.{}] {}", file.string(), op.str(), problem));
        }
        result.targets[std::string(op.str())] = std::move(target);
    }
    return result;
}

}  // namespace checker
