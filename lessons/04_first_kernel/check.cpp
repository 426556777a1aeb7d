// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    cases::add_encoder(lesson);
    cases::add_gelu(lesson);
    cases::add_residual(lesson);
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "04_first_kernel", register_cases);
}
