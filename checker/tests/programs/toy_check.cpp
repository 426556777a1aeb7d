// SPDX-License-Identifier: MIT
//
// The check program of the toy lesson alone, to be linked with the GPU's side of the checker.
#include <gtest/gtest.h>

#include <deque>

#include "checker/program/run_lesson.h"
#include "checker/tests/toy_lesson.h"

int main(int argc, char** argv) {
    std::deque<toy_lesson::Step> steps;
    return checker::run_lesson(argc, argv, "00_toy",
                               [&](checker::Lesson& lesson) { toy_lesson::register_toy(lesson, steps); });
}
