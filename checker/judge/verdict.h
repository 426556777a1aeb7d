// SPDX-License-Identifier: MIT
//
// A report in words, as the terminal shows it: first what was tested, then the verdict, then the first finding, then
// the next command to type. At most 80 columns; one screen unless `verbose`.
#pragma once

#include <string>

#include "checker/judge/report.h"

namespace checker {

struct Terminal {
    bool colour = false;   // only on a terminal, and not where NO_COLOR is set
    bool unicode = false;  // otherwise ASCII alone
    bool verbose = false;  // every case and every finding

    // What stdout and the environment allow.
    static Terminal of_stdout(bool verbose);
};

// What the learner may do next, beside editing.
struct Next {
    std::string check;              // "make check-lesson01"
    std::string hint;               // "make hint-lesson01"
    std::vector<std::string> done;  // once all is right: a line each
};

std::string verdict_text(const LessonReport& report, const Next& next, const Terminal& terminal);

}  // namespace checker
