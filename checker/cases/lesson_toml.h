// SPDX-License-Identifier: MIT
//
// lessons/NN_name/lesson.toml, as far as the check needs it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checker/clock/timing.h"

namespace checker {

struct Target {
    Rival against = Rival::solution;  // or copy or library
    Shares shares;                    // of its speed, in the same run; bronze is needed to pass
    double older = 0;                 // also at least so many times as fast as the newest older solution; 0: not asked
    double threads = 0;               // also this share of twice its speed with two threads; 0: not asked
    std::vector<std::string> shapes;  // as check.cpp names them; without any, all that it times are reported only
    std::vector<std::string> reported = {};  // timed too where all times are wanted, behind `shapes`; never judged
    bool judges(const std::string& shape) const;
};

struct LessonToml {
    bool step = false;  // the lesson ends with a whole model
    std::map<std::string, Target> targets;
    // On a device, by op: at most so many times what the call needs of the counter.
    std::map<std::string, std::map<std::string, double>> counters;
};

// Throws FileError with what is missing or misspelt.
LessonToml read_lesson_toml(const std::filesystem::path& file);

}  // namespace checker
