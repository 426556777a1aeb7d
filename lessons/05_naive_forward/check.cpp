// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    // One row, output or element more than a block has.
    lesson.op("layernorm").add_drawn("edge", "B=3 T=11 C=2");
    lesson.op("matmul").add_drawn("edge", "N=17 C=3 OC=17");
    lesson.op("causal_softmax").add_drawn("edge", "B=1 NH=3 T=43");
    lesson.op("attention").add_drawn("edge", "B=1 T=17 C=16 NH=2");
    lesson.op("softmax").add_drawn("edge", "N=33 V=3 Vp=4");
    lesson.op("crossentropy").add_drawn("edge", "N=257 Vp=4");
    add_huge_matmul(lesson.op("matmul"));
    add_huge_attention(lesson.op("attention"));
}
