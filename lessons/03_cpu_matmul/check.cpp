// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    matmul.add_with_threads("op_c63", 2);
    matmul.add_drawn("ragged", "N=203 C=1003 OC=1001");  // many blocks each way, and tiles cut on every side
}
