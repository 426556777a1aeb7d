// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    // A tile of 128 rows or columns is loaded once for 128 columns or rows of outputs, and each output stored once. From
    // shared memory a warp loads 64 + 64 floats for its 64 by 64 multiply-adds, and it waits once for each 16 channels.
    constexpr double kTile = 128, kWarp = 64, kStep = 16, kN = kSquare, kProducts = kN * kN * kN;
    add_matmul_shapes(matmul, {{"bytes_moved", kFloat * (2 * kProducts / kTile + kN * kN)},
                               {"shared_bytes_asked", kFloat * 2 * kProducts / kWarp},
                               {"excess_wavefronts", 0},
                               {"barriers", kN / kWarp * kN / kWarp * kN / kStep},
                               {"operations_off_tensor_cores", 2 * kProducts},
                               {"library_calls", 0}});
    // TF32 has all of fp32's exponents; fp16, of as many bits of mantissa, ends at 65,504.
    matmul.add_drawn("beyond_fp16", "N=16 C=64 OC=24", {{"inp", normal(1e6F)}});
    matmul.add_drawn("edge", "N=17 C=49 OC=9");       // one channel more than the stages hold
    matmul.add_drawn("groups", "N=2177 C=1 OC=129");  // two rows of tiles more than a group of 16 has, and two columns
    add_misaligned_matmul(matmul);
    add_huge_matmul(matmul);
    matmul.add_unwritten("N=1 C=320 OC=8000000", "huge_weight");
}
