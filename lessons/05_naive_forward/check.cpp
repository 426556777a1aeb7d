// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

void cases::add_own(LessonCases& lesson) {
    add_huge_matmul(lesson.op("matmul"));
    add_huge_attention(lesson.op("attention"));
}
