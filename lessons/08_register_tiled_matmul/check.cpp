// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    // A tile of 64 rows or columns is loaded once for 64 columns or rows of outputs, and each output stored once, 16 bytes
    // a lane; from shared memory a thread loads 8 floats of either operand for 8 by 8 products.
    constexpr double kTile = 64, kOutputs = 8, kN = kSquare, kRequestBytes = 32 * 16;
    constexpr double kProducts = kN * kN * kN, kMoved = kFloat * (2 * kProducts / kTile + kN * kN);
    add_matmul_shapes(matmul, {{"bytes_moved", kMoved},
                               {"shared_bytes_asked", kFloat * 2 * kProducts / kOutputs},
                               {"requests", kMoved / kRequestBytes}});
    add_misaligned_matmul(matmul);
    add_huge_matmul(matmul);
}
