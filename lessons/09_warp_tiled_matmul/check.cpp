// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    const int side = lesson.rehearsal() ? 144 : 4096;  // more than one tile, and a part of one
    checker::Op& matmul = cases::add_matmul(lesson);
    cases::add_matmul_case(lesson, matmul, "op_tile");
    // A tile of 128 rows or columns is loaded once for 128 columns or rows of outputs, and each output stored once. Of
    // shared memory a warp loads 64 + 32 floats for its 64 · 32 multiply-adds.
    constexpr double kTile = 128, kWarpN = 64, kWarpOC = 32, kN = cases::kSquare, kFloat = sizeof(float);
    constexpr double kProducts = kN * kN * kN;
    cases::add_matmul_shapes(
        lesson, matmul,
        {{checker::Counter::bytes_moved, kFloat * (2 * kProducts / kTile + kN * kN)},
         {checker::Counter::shared_bytes_distinct, kFloat * kProducts * (kWarpN + kWarpOC) / (kWarpN * kWarpOC)},
         {checker::Counter::excess_wavefronts, 0}});
    cases::add_huge_matmul_case(lesson, matmul);
    checker::Timed timed = cases::time_matmul({.N = side, .C = side, .OC = side}, lesson.budget_factor("matmul.out"));
    timed.library = lesson.matmul_library(side, side, side);
    matmul.timed.push_back(std::move(timed));
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "09_warp_tiled_matmul", register_cases);
}
