// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    // Lesson 09's bytes; a warp waits once for each 16 channels; and while it sums any stage but the last one, the next one
    // is on its way. A thread loads 8 + 8 floats for 64 multiply-adds.
    constexpr double kTile = 128, kWarpN = 64, kWarpOC = 32, kStep = 16, kN = kSquare, kProducts = kN * kN * kN;
    constexpr double kLoaded = kFloat * kProducts * (kWarpN + kWarpOC) / (kWarpN * kWarpOC);
    add_matmul_shapes(matmul, {{"bytes_moved", kFloat * (2 * kProducts / kTile + kN * kN)},
                               {"shared_bytes_distinct", kLoaded},
                               {"excess_wavefronts", 0},
                               {"barriers", kN * kN / (kWarpN * kWarpOC) * kN / kStep},
                               {"shared_bytes_alone", kFloat * kN * kN * kStep * 16 / 64}});
    matmul.add_drawn("groups", "N=2177 C=1 OC=129");  // two rows of tiles more than a group of 16 has, and two columns
    add_misaligned_matmul(matmul);
    add_huge_matmul(matmul);
    matmul.add_unwritten("N=1 C=320 OC=8000000", "huge_weight");
}
