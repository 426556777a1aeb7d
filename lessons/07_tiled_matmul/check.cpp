// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    const bool small = lesson.rehearsal();
    const int N = small ? 16 : 4096, C = small ? 48 : 768;  // the first matmul of the MLP at B=4, T=1024
    checker::Op& matmul = cases::add_matmul(lesson);
    cases::add_matmul_case(lesson, matmul, "op_tile");
    // A tile of 32 rows or columns is loaded once for 32 columns or rows of outputs, and each output stored once.
    constexpr double kTile = 32, kN = cases::kSquare, kFloat = sizeof(float);
    cases::add_matmul_shapes(lesson, matmul, {{"bytes_moved", kFloat * (2 * kN * kN * kN / kTile + kN * kN)}});
    cases::add_huge_matmul_case(lesson, matmul);
    checker::Timed timed = cases::time_matmul({.N = N, .C = C, .OC = 4 * C}, lesson.budget_factor("matmul.out"));
    timed.library = lesson.matmul_library(N, C, 4 * C);
    matmul.timed.push_back(std::move(timed));
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "07_tiled_matmul", register_cases);
}
