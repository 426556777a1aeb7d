// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    checker::Op& matmul = cases::add_matmul(lesson);
    cases::add_matmul_case(lesson, matmul, "op_tile");
    // A tile of 128 rows or columns is loaded once for 128 columns or rows of outputs, and each output stored once. Of
    // shared memory a warp loads 64 + 32 floats for its 64 · 32 multiply-adds.
    constexpr double kTile = 128, kWarpN = 64, kWarpOC = 32, kN = cases::kSquare, kFloat = sizeof(float);
    constexpr double kProducts = kN * kN * kN;
    cases::add_matmul_shapes(lesson, matmul,
                             {{"bytes_moved", kFloat * (2 * kProducts / kTile + kN * kN)},
                              {"shared_bytes_distinct", kFloat * kProducts * (kWarpN + kWarpOC) / (kWarpN * kWarpOC)},
                              {"excess_wavefronts", 0}});
    cases::add_shifted_matmul_case(lesson, matmul);
    cases::add_huge_matmul_case(lesson, matmul);
    cases::time_large_matmuls(lesson, matmul,
                              {.N = 144, .C = 144, .OC = 144});  // more than one tile, and a part of one
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "09_warp_tiled_matmul", register_cases);
}
