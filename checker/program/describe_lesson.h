// SPDX-License-Identifier: MIT
//
// A lesson as make, Python and the tools see it (--describe), and lesson.toml held against what the lesson registers.
#pragma once

#include <filesystem>
#include <string>

#include "checker/base/json.h"
#include "checker/cases/lesson.h"
#include "checker/cases/lesson_toml.h"
#include "checker/program/options.h"

namespace checker {

// Throws FileError, in one line with the nearest right name, for a target or a counter that would never be judged.
void require_judged(const LessonToml& toml, const Lesson& lesson);

// JSON of what lesson.toml says and `ls solutions` adds: number, name, title, idea, track, step, requires, precision, ladder; of each
// op its target, its counters, and the shapes that it is timed at. Ops without a target come last.
Json outline_of(const LessonToml& toml, const std::string& lesson);

// Prints the lesson's outline in the order of its ops, and what only its check program knows: the file and cases of an op,
// the bytes and FLOP of a shape, the counters of the device. Returns the exit status.
int describe_lesson(const Lesson& lesson, const Options& options);

}  // namespace checker
