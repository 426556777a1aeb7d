// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>
#include <string>

// The output's words, wherever its lines were broken.
inline std::string in_one_line(const std::string& output) {
    std::istringstream in(output);
    std::string text;
    for (std::string word; in >> word;) { text += (text.empty() ? "" : " ") + word; }
    return text;
}
