// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    OpCases& encoder = lesson.op("encoder");
    encoder.add_drawn("wide", "B=2 T=3 C=1000 Vp=17");  // rows longer than a block has threads
    encoder.add_huge("B=2731 T=1024 C=768 Vp=17");      // 2,147,745,792 outputs
}
