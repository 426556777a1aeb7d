// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    const bool small = lesson.rehearsal();
    const int B = small ? 1 : 4, T = small ? 16 : 1024, C = small ? 48 : 768, NH = 12;
    const int V = small ? 250 : 50257, Vp = small ? 256 : 50304;
    const double factor = lesson.budget_factor("matmul.out");
    cases::add_layernorm(lesson).timed.push_back(cases::time_layernorm(B, T, C));
    checker::Timed matmul = cases::time_matmul({.N = B * T, .C = C, .OC = 4 * C}, factor);
    matmul.library = lesson.matmul_library(B * T, C, 4 * C);
    checker::Op& matmul_op = cases::add_matmul(lesson);
    cases::add_huge_matmul_case(lesson, matmul_op);
    matmul_op.timed.push_back(std::move(matmul));
    cases::add_softmax(lesson).timed.push_back(cases::time_softmax(T, V, Vp));
    cases::add_causal_softmax(lesson).timed.push_back(cases::time_causal_softmax(B, NH, T));
    cases::add_attention(lesson).timed.push_back(cases::time_attention(B, T, C, NH));
    cases::add_crossentropy(lesson).timed.push_back(cases::time_crossentropy(T, Vp));
    const Config gpt2{.max_T = T, .V = V, .Vp = Vp, .L = small ? 2 : 12, .NH = NH, .C = C};
    cases::add_forward(lesson).timed.push_back(cases::time_forward(gpt2, 1, small ? T : 256));
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "05_naive_forward", register_cases);
}
