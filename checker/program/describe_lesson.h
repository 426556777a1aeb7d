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

// The same of a lesson's check program, in order of its ops, with what only that knows: of an op its file and cases, of a
// shape its bytes and FLOP; the counters of the device.
std::string description_of(const LessonToml& toml, const Lesson& lesson, const Options& options);

}  // namespace checker
