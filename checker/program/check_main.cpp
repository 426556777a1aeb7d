// SPDX-License-Identifier: MIT
//
// The check program of the lesson that it is compiled for: LESSON is "01_layers".
#include "checker/program/run_lesson.h"

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, LESSON, checker::register_cases);
}
