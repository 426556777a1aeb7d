// SPDX-License-Identifier: MIT
//
// lessons/NN_name/lesson.toml, as far as the check needs it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace checker {

struct Target {
    enum class Kind { copy_bandwidth, solution_time };
    Kind kind = Kind::solution_time;
    double limit = 0;  // at least this share of the copy's speed, or at most so many times the solution's time
};

struct LessonToml {
    bool step = false;  // the lesson ends with a whole model
    std::map<std::string, Target> targets;
};

// Throws FileError with what is missing or misspelt.
LessonToml read_lesson_toml(const std::filesystem::path& file);

}  // namespace checker
