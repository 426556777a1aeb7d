// SPDX-License-Identifier: MIT
//
// Commands that tests run, and what they look for in the output.
#pragma once

#include <sstream>
#include <string>

#include "checker/base/files.h"

// Both streams of a command that reads nothing.
inline checker::Finished shell(const std::string& command) {
    return checker::run_command("{ " + command + "; } 2>&1 </dev/null");
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The output's words, wherever its lines were broken.
inline std::string in_one_line(const std::string& output) {
    std::istringstream in(output);
    std::string text;
    for (std::string word; in >> word;) { text += (text.empty() ? "" : " ") + word; }
    return text;
}
