// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    add_unseen_token(lesson.op("attention"));
    lesson.op("forward").time_with("V=256 Vp=256 max_T=T");
}
