// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    // A tile of 128 rows or columns is loaded once for 128 columns or rows of outputs, and each output stored once. Of
    // shared memory a warp loads 64 + 32 floats for its 64 · 32 multiply-adds.
    constexpr double kTile = 128, kWarpN = 64, kWarpOC = 32, kN = kSquare, kProducts = kN * kN * kN;
    constexpr double kLoaded = kFloat * kProducts * (kWarpN + kWarpOC) / (kWarpN * kWarpOC);
    add_matmul_shapes(matmul, {{"bytes_moved", kFloat * (2 * kProducts / kTile + kN * kN)},
                               {"shared_bytes_distinct", kLoaded},
                               {"excess_wavefronts", 0}});
    add_misaligned_matmul(matmul);
    add_huge_matmul(matmul);
}
