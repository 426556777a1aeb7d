// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    const double factor = lesson.budget_factor("matmul.out");
    cases::add_matmul(lesson).timed.push_back(cases::time_matmul({.N = 8, .C = 768, .OC = 768}, factor));
    cases::add_causal_softmax(lesson).timed.push_back(cases::time_causal_softmax(1, 12, 256));
    cases::add_attention(lesson).timed.push_back(cases::time_attention(1, 64, 768, 12));
    cases::add_softmax(lesson).timed.push_back(cases::time_softmax(16, 50257, 50304));
    cases::add_crossentropy(lesson).timed.push_back(cases::time_crossentropy(4096, 256));
    const Config small{.max_T = 32, .V = 256, .Vp = 256, .L = 2, .NH = 4, .C = 128};
    cases::add_forward(lesson).timed.push_back(cases::time_forward(small, 1, 32));
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "02_forward", register_cases);
}
