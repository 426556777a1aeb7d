// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    add_rows_causal_softmax(lesson.op("causal_softmax"), 3);
}
