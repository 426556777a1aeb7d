// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

namespace checker {

class Lesson;

// The main function of a check program: reads the options, registers the cases, runs and prints the verdict.
// The exit status is 0 when everything is right (and nothing is slow), 1 when something is not, 2 when the check
// itself could not run.
int run_lesson(int argc, char** argv, const std::string& lesson, const std::function<void(Lesson&)>& register_cases);

// What a lesson is checked with: the program that links it decides. That of GPT-2's ops is in lessons/gpt2/check.
void register_cases(Lesson& lesson);

}  // namespace checker
