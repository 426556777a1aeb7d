// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    // A tile of 32 rows or columns is loaded once for 32 columns or rows of outputs, and each output stored once. No two
    // lanes of a warp need different words of one bank.
    constexpr double kTile = 32, kN = kSquare;
    add_matmul_shapes(matmul,
                      {{"bytes_moved", kFloat * (2 * kN * kN * kN / kTile + kN * kN)}, {"excess_wavefronts", 0}});
    add_huge_matmul(matmul);
}
