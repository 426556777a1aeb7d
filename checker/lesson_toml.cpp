// SPDX-License-Identifier: MIT
#include "checker/lesson_toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include "checker/file_error.h"

namespace checker {

LessonToml read_lesson_toml(const std::filesystem::path& file) {
    LessonToml result;
    toml::table lesson;
    try {
        lesson = toml::parse_file(file.string());
    } catch (const toml::parse_error& e) {
        throw FileError(fmt::format("{}:{}: {}", file.string(), e.source().begin.line, e.description()));
    }
    result.step = lesson["step"].value_or(false);
    const toml::table* targets = lesson["target"].as_table();
    if (targets == nullptr) {
        return result;
    }
    for (const auto& [op, node] : *targets) {
        const toml::table row = node.is_table() ? *node.as_table() : toml::table{};
        const std::string kind = row["kind"].value_or("");
        Target target;
        if (kind == "copy_bandwidth") {
            target = {Target::Kind::copy_bandwidth, row["share"].value_or(0.0)};
        } else if (kind == "solution_time") {
            target = {Target::Kind::solution_time, row["ratio"].value_or(0.0)};
        }
        if (!(target.limit > 0.0)) {
            throw FileError(
                fmt::format("{}: [target.{}] needs kind = \"copy_bandwidth\" and a share, or "
                            "kind = \"solution_time\" and a ratio",
                            file.string(), op.str()));
        }
        result.targets[std::string(op.str())] = target;
    }
    return result;
}

}  // namespace checker
