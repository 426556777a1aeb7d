// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    // Some milliseconds of work, so that threads meet; its tiles are not shared out evenly. Then more threads than tiles.
    matmul.add_with_threads("threads", "N=603 C=1003 OC=1009", {2, 3});
    matmul.add_with_threads("few_tiles", "N=5 C=7 OC=13", {2, 3});
    matmul.add_drawn("ragged", "N=203 C=1003 OC=1001");  // many blocks each way, and tiles cut on every side
}
