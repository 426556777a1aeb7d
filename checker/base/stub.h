// SPDX-License-Identifier: MIT
//
// The two texts that one solution file holds, told apart by marker lines:
//
//     // >>> solution
//     //~ only in the stub, without the `//~ `
//     only in the solution
//     // <<< solution
//
// A file with the line `// >>> given` is no exercise: both texts are the file without that line.
#pragma once

#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "checker/base/files.h"

namespace checker {

struct MarkerError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

namespace detail {

inline constexpr std::string_view kBegin = "// >>> solution";
inline constexpr std::string_view kEnd = "// <<< solution";
inline constexpr std::string_view kStubOnly = "//~";
inline constexpr std::string_view kGiven = "// >>> given";

inline std::string_view trimmed(std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace detail

enum class Text { stub, solution };

// The text for the learner (stub) or the solved one without markers (solution). `file` is named in errors.
// Throws MarkerError where markers do not pair up, where one is misspelt, and for a file without any.
inline std::string extract(std::string_view source, std::string_view file, Text wanted) {
    using namespace detail;
    std::string text;
    std::size_t begun = 0;  // line of the open `>>>`; 0 outside a region
    std::size_t regions = 0;
    std::size_t given = 0;  // line of `// >>> given`; 0 in an exercise
    std::size_t number = 0;
    const auto fail = [&](std::size_t line, const std::string& what) {
        throw MarkerError(std::string(file) + ":" + std::to_string(line) + ": " + what);
    };
    std::istringstream lines{std::string(source)};
    for (std::string line; std::getline(lines, line);) {
        number++;
        const std::string_view code = trimmed(line);
        if (code == kBegin) {
            if (begun != 0) {
                fail(number, "`// >>> solution` inside the region that line " + std::to_string(begun) +
                                 " opens; close that one with `// <<< solution` first");
            }
            begun = number;
            regions++;
        } else if (code == kEnd) {
            if (begun == 0) {
                fail(number, "`// <<< solution` without a `// >>> solution` before it");
            }
            begun = 0;
        } else if (code == kGiven) {
            given = number;
        } else if (code.starts_with("// >>>") || code.starts_with("// <<<")) {
            fail(number, "not a marker: write `// >>> solution` or `// <<< solution`, or `// >>> given`");
        } else if (code.starts_with(kStubOnly)) {
            if (begun == 0) {
                fail(number, "`//~` outside a region; put it between `// >>> solution` and `// <<< solution`");
            }
            if (wanted == Text::stub) {
                std::string_view rest = code.substr(kStubOnly.size());
                rest.remove_prefix(rest.starts_with(' ') ? 1 : 0);
                text += rest.empty() ? "" : line.substr(0, line.find(kStubOnly)) + std::string(rest);
                text += '\n';
            }
        } else if (begun == 0 || wanted == Text::solution) {
            text += line + '\n';
        }
    }
    if (begun != 0) {
        fail(begun, "`// >>> solution` without a `// <<< solution` after it");
    }
    if (given != 0 && regions != 0) {
        fail(given, "`// >>> given` in a file with a `// >>> solution` region; a given file is no exercise");
    }
    if (given == 0 && regions == 0) {
        fail(1, "no `// >>> solution` region; a stub must differ from its solution, or the file says `// >>> given`");
    }
    return text;
}

// Whether the file that has this text is no exercise.
inline bool is_given(std::string_view source) {
    std::istringstream lines{std::string(source)};
    for (std::string line; std::getline(lines, line);) {
        if (detail::trimmed(line) == detail::kGiven) {
            return true;
        }
    }
    return false;
}

// Whether the learner's file, "01_layers/gelu.cpp", is the exercise as it was given: the solution without its marked regions.
inline bool is_stub(const std::filesystem::path& file) {
    const std::filesystem::path solution = "solutions" / file;
    const std::optional<std::string> solved = read_file_if_there(solution);
    try {
        return solved && !is_given(*solved) &&
               read_file_if_there("lessons" / file) == extract(*solved, solution.string(), Text::stub);
    } catch (const MarkerError&) { return false; }  // a solution that has no stub
}

}  // namespace checker
