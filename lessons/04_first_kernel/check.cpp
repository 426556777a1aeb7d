// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    lesson.op("encoder").add_drawn("wide", "B=2 T=3 C=1000 Vp=17");  // rows longer than a block has threads
}
