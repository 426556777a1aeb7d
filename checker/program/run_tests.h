// SPDX-License-Identifier: MIT
//
// The check itself: GoogleTest, timing, results and the verdict.
#pragma once

#include "checker/cases/lesson.h"
#include "checker/program/options.h"

namespace checker {

// Takes GoogleTest's options out of a command line.
void take_test_options(int& argc, char** argv);

// Runs the tests that the options leave, and prints the verdict. The ops run in a worker. Returns the exit status.
int run_tests(const Lesson& lesson, const Options& options);

}  // namespace checker
