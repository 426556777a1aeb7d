// SPDX-License-Identifier: MIT
#include "checker/program/doubles.h"

#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/text.h"

namespace checker {
namespace {

// Returns "x.cpp:2" of the compiler's line "dir/x.cpp:2:14: warning: ... [-Wdouble-promotion]", nothing of another line.
std::string warned_line(std::string_view line) {
    const std::size_t warning = line.find(": warning: ");
    if (warning == line.npos || line.find("-Wdouble-promotion", warning) == line.npos)
        return "";
    const std::vector<std::string_view> place = split(line.substr(0, warning), ':');  // file, line, column
    if (place.size() != 3)
        return "";
    return std::filesystem::path(place[0]).filename().string() + ":" + std::string(place[1]);
}

}  // namespace

std::string first_double(const std::filesystem::path& file) {
    const char* const compiler = std::getenv("CXX");
    const std::string command = std::string(compiler == nullptr ? "g++" : compiler) +
                                " -std=c++20 -I. -fsyntax-only -fdiagnostics-color=never -Wdouble-promotion -x c++ " +
                                quoted(file.string()) + " 2>&1";
    try {
        const std::string said = run_command(command).output;
        for (const std::string_view line : split(said, '\n')) {
            if (std::string place = warned_line(line); !place.empty())
                return place;
        }
    } catch (const std::exception&) {}  // then nothing is said
    return "";
}

}  // namespace checker
