// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    lesson.op("residual").add_drawn("edge", "N=257");  // one element more than a block has threads
    lesson.op("gelu").add_drawn("edge", "N=1025");     // and one more than a block has elements
    OpCases& encoder = lesson.op("encoder");
    encoder.add_drawn("edge", "B=2 T=3 C=193 Vp=17");   // a row of one channel more than a block has threads
    encoder.add_drawn("wide", "B=2 T=3 C=1000 Vp=17");  // rows longer than a block has threads
    encoder.add_huge("B=2731 T=1024 C=768 Vp=17");      // 2,147,745,792 outputs
}
