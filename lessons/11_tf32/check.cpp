// SPDX-License-Identifier: MIT
#include <vector>

#include "checker/worker/device_backend.h"
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases &matmul = lesson.op("matmul"), &attention = lesson.op("attention");
    matmul.add_drawn("square", "N=256 C=256 OC=256").calls.back().needed = {{"library_calls", 1},
                                                                            {"kernel_launches", 1}};
    matmul.add_drawn("one", "N=1 C=1 OC=1");
    matmul.add_drawn("ragged", "N=17 C=33 OC=129");
    matmul.add_drawn("edge", "N=2 C=1 OC=257");  // one output more than a block of the bias's kernel has threads
    // TF32 has all of fp32's exponents; fp16, of as many bits of mantissa, ends at 65,504 and has few bits left at 1e-6.
    matmul.add_drawn("beyond_fp16", "N=16 C=64 OC=24", {{"inp", normal(1e6F)}});
    attention.add_drawn("below_fp16", "B=2 T=8 C=64 NH=4", {{"qkv", normal(1e-6F)}});
    if (!checker::device_backend().samples_blocks()) {  // a kernel that reads what cuBLAS wrote needs all of it
        add_huge_matmul(matmul);
    }
    matmul.add_unwritten("N=42735 C=1 OC=50257");  // 2,147,732,895 outputs
    matmul.add_unwritten("N=1 C=16 OC=168000000", "huge_weight");
    // More elements than 2^31 in turn of qkv, of out and of the scores, and as many heads as lesson 05 has a grid for.
    attention.add_unwritten("B=90 T=1 C=10000000 NH=500", "huge_qkv");
    attention.add_unwritten("B=270 T=1 C=10000000 NH=200", "huge_out");
    attention.add_unwritten("B=60 T=192 C=1000 NH=1000", "huge_scores");
    matmul.time_with_null("bias");  // its kernel is ours, and the target is on cuBLAS
    add_misaligned_matmul(matmul);
    attention.add_drawn("whole_vectors", "B=2 T=20 C=48 NH=3");
    add_misaligned(attention, "whole_vectors");
    attention.add_drawn("heads", "B=3 T=40 C=64 NH=4").calls.back().needed = {{"library_calls", 2 * 3},
                                                                              {"kernel_launches", 1}};
}
