// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    const bool small = lesson.rehearsal();
    const int B = small ? 2 : 64, T = small ? 8 : 1024, C = 768, Vp = small ? 128 : 50304;
    checker::Op& encoder = cases::add_encoder(lesson);
    cases::add_wide_encoder_case(lesson, encoder);
    encoder.timed.push_back(cases::time_encoder(B, T, C, Vp));
    cases::add_gelu(lesson).timed.push_back(cases::time_gelu(B * T * 4 * C));
    cases::add_residual(lesson).timed.push_back(cases::time_residual(B * T * C));
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "04_first_kernel", register_cases);
}
