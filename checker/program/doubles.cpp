// SPDX-License-Identifier: MIT
#include "checker/program/doubles.h"

#include <cstdlib>
#include <exception>
#include <regex>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/text.h"

namespace checker {

std::string first_double(const std::filesystem::path& file) {
    const char* const compiler = std::getenv("CXX");
    const std::string command = std::string(compiler == nullptr ? "g++" : compiler) +
                                " -std=c++20 -I. -fsyntax-only -fdiagnostics-color=never -Wdouble-promotion -x c++ " +
                                quoted(file.string()) + " 2>&1";
    try {
        const std::string said = run_command(command).output;
        std::smatch found;
        const std::regex warning("(?:^|\\n)[^\\n:]*?([^\\n:/]+:\\d+):\\d+: warning: [^\\n]*-Wdouble-promotion");
        return std::regex_search(said, found, warning) ? found[1].str() : "";
    } catch (const std::exception&) { return ""; }  // then nothing is said
}

}  // namespace checker
