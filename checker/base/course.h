// SPDX-License-Identifier: MIT
//
// The course's lessons by their folders' names. What a lesson is made of, its files say.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace checker {

// Whether a folder's name is a lesson's: "01_layers".
bool is_lesson(std::string_view folder);
std::string lesson_number(const std::string& lesson);  // "01"
std::string lesson_title(const std::string& lesson);   // "layers"

// The names of the files in solutions/NN_name that solve an op, OP.cpp or OP.cu, in order: of each lesson, and of the ladder.
std::map<std::string, std::vector<std::string>> solution_files();
std::vector<std::string> solution_files(const std::string& lesson);

// A helper is a header that the learner writes: solutions/NN_name/X.cuh. Op files beside it include it as "X.cuh", those of
// later lessons as "NN_name/X.cuh". Its names are "NN_name/X.cuh": of all, and of those that a file includes, or that these do
// in turn.
std::vector<std::string> helper_files();
std::set<std::string> helpers_of(const std::filesystem::path& source);

// Returns an exercise's file, and those of the helpers that it includes from its own tree.
std::vector<std::filesystem::path> files_of_exercise(const std::filesystem::path& file);

// Identifies an exercise's text and that of the helpers that it includes from its own tree, so that a reader of results
// knows whether one is about the files as they are; empty without the file.
std::string exercise_digest(const std::filesystem::path& file);

// Whether the lesson's ops run on a device.
bool has_kernels(const std::string& lesson);

// Returns the lesson that this one is a branch of, by the line branch_of = "NN_name" of its lesson.toml: its ops are compared
// with that lesson's and serve no step. Empty without the line.
std::string branch_of(const std::string& lesson);

// Whether a lesson ends with a whole model: whether it and the lessons of its track before it have all the ops of the first
// lesson with a `forward`. That one needs no file of its own on the device's track: the host's serves. A branch does not count.
bool is_step(const std::string& lesson);

// The solution that serves a lesson as an op's: its own, or that of the newest lesson before, branches aside, which has one.
// Empty without.
std::filesystem::path newest_solution(const std::string& lesson, const std::string& op);

}  // namespace checker
