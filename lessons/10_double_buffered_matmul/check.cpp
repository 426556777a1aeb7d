// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    checker::Op& matmul = cases::add_matmul(lesson);
    cases::add_matmul_case(lesson, matmul, "op_tile");
    // Lesson 09's bytes; a warp waits once for each 16 channels; and while it sums any stage but the last one, the next one
    // is on its way. A thread loads 8 + 8 floats for 64 multiply-adds.
    constexpr double kTile = 128, kWarpN = 64, kWarpOC = 32, kStep = 16, kN = cases::kSquare, kFloat = sizeof(float);
    constexpr double kProducts = kN * kN * kN;
    cases::add_matmul_shapes(lesson, matmul,
                             {{"bytes_moved", kFloat * (2 * kProducts / kTile + kN * kN)},
                              {"shared_bytes_distinct", kFloat * kProducts * (kWarpN + kWarpOC) / (kWarpN * kWarpOC)},
                              {"excess_wavefronts", 0},
                              {"barriers", kN * kN / (kWarpN * kWarpOC) * kN / kStep},
                              {"shared_bytes_alone", kFloat * kN * kN * kStep * 16 / 64}});
    cases::add_shifted_matmul_case(lesson, matmul);
    cases::add_huge_matmul_case(lesson, matmul);
    cases::time_large_matmuls(lesson, matmul,
                              {.N = 144, .C = 144, .OC = 144});  // more than one tile, and a part of one
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "10_double_buffered_matmul", register_cases);
}
