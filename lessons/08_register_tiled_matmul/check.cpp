// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    checker::Op& matmul = cases::add_matmul(lesson);
    cases::add_matmul_case(lesson, matmul, "op_tile");
    // A tile of 64 rows or columns is loaded once for 64 columns or rows of outputs, and each output stored once, 16 bytes
    // a lane; from shared memory a thread loads 8 floats of either operand for 8 by 8 products.
    constexpr double kTile = 64, kOutputs = 8, kN = cases::kSquare, kFloat = sizeof(float), kRequestBytes = 32 * 16;
    constexpr double kProducts = kN * kN * kN, kMoved = kFloat * (2 * kProducts / kTile + kN * kN);
    cases::add_matmul_shapes(lesson, matmul,
                             {{"bytes_moved", kMoved},
                              {"shared_bytes_asked", kFloat * 2 * kProducts / kOutputs},
                              {"requests", kMoved / kRequestBytes}});
    cases::add_shifted_matmul_case(lesson, matmul);
    cases::add_huge_matmul_case(lesson, matmul);
    cases::time_large_matmuls(lesson, matmul, {.N = 48, .C = 48, .OC = 48});
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "08_register_tiled_matmul", register_cases);
}
