// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    // Some milliseconds of work, so that threads meet; its tiles are not shared out evenly. Then more threads than tiles.
    matmul.add_with_threads("threads", "N=603 C=1003 OC=1009", {3, 2});
    matmul.add_with_threads("few_tiles", "N=5 C=7 OC=13", {3, 2});
    matmul.add_drawn("ragged", "N=203 C=1003 OC=1001");  // many blocks each way, and tiles cut on every side

    matmul.add_drawn("few", "N=2 C=1 OC=3");  // less than a vector holds

    // Tiles of queries and of keys that are cut, and heads of more channels than a tile and of less than a vector.
    OpCases& attention = lesson.op("attention");
    attention.add_drawn("ragged", "B=2 T=101 C=210 NH=3");
    attention.add_drawn("few_channels", "B=1 T=67 C=15 NH=5");
    attention.add_drawn("wide_head", "B=1 T=33 C=130 NH=1");
}
