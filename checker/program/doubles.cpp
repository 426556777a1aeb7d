// SPDX-License-Identifier: MIT
#include "checker/program/doubles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <vector>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/text.h"

namespace checker {
namespace {

struct Location {
    std::filesystem::path file;
    int line = 0;
};

// Returns dir/x.cpp and 2 for the compiler's line "dir/x.cpp:2:14: warning: ... [-Wdouble-promotion]", line 0 for others.
Location warned_location(std::string_view line) {
    const std::size_t warning = line.find(": warning: ");
    if (warning == line.npos)
        return {};
    const auto says = [&](std::string_view text) { return line.find(text, warning) != line.npos; };
    if (!says("-Wdouble-promotion") && !says("'double' to 'float'") && !says("{aka 'double'} to 'float'"))
        return {};
    const std::vector<std::string_view> place = split(line.substr(0, warning), ':');  // file, line, column
    Location result;
    if (place.size() == 3) {
        result.file = place[0];
        std::from_chars(place[1].data(), place[1].data() + place[1].size(), result.line);
    }
    return result;
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Returns the text with comments and strings blanked: every other character stays at its place.
std::string code_of(std::string_view source) {
    std::string code(source);
    const auto blank = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < std::min(end, code.size()); i++) { code[i] = code[i] == '\n' ? '\n' : ' '; }
    };
    for (std::size_t i = 0; i + 1 < code.size(); i++) {
        if (code.compare(i, 2, "//") == 0) {
            blank(i, code.find('\n', i));
        } else if (code.compare(i, 2, "/*") == 0) {
            const std::size_t end = code.find("*/", i + 2);
            blank(i, end == code.npos ? end : end + 2);
        } else if (code[i] == '"') {
            const std::size_t end = code.find('"', i + 1);
            blank(i, end == code.npos ? end : end + 1);
        }
    }
    return code;
}

// Returns the statement that a line is part of.
std::string_view statement_at(std::string_view code, int line) {
    std::size_t begin = 0;
    for (int i = 1; i < line && begin != code.npos; i++) {
        begin = code.find('\n', begin);
        begin = begin == code.npos ? begin : begin + 1;
    }
    if (begin == code.npos) {
        return {};
    }
    const std::size_t end_of_line = std::min(code.find('\n', begin), code.size());
    const std::size_t end = std::min(code.find_first_of(";{}", std::max(begin, end_of_line) - 1), code.size());
    const std::size_t before = begin == 0 ? code.npos : code.find_last_of(";{}", begin - 1);
    return code.substr(before == code.npos ? 0 : before + 1, end - (before == code.npos ? 0 : before + 1));
}

// Returns the words and numbers of a statement: 1e-5f and std::pow are one each.
std::vector<std::string_view> words_of(std::string_view statement) {
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < statement.size();) {
        const auto is_digit = [&](std::size_t at) {
            return at < statement.size() && std::isdigit(static_cast<unsigned char>(statement[at])) != 0;
        };
        const bool number = is_digit(i) || (statement[i] == '.' && is_digit(i + 1));
        std::size_t end = i + 1;
        if (number) {
            const bool hex = statement.substr(i).starts_with("0x") || statement.substr(i).starts_with("0X");
            while (end < statement.size() &&
                   (is_word(statement[end]) || statement[end] == '.' || statement[end] == '\'' ||
                    ((statement[end] == '-' || statement[end] == '+') &&
                     std::string_view(hex ? "pP" : "eE").find(statement[end - 1]) != std::string_view::npos))) {
                end++;
            }
        } else if (is_word(statement[i])) {
            while (end < statement.size() && (is_word(statement[end]) || statement.substr(end).starts_with("::") ||
                                              statement.substr(end - 1).starts_with("::"))) {
                end++;
            }
        }
        if (number || is_word(statement[i])) {
            words.push_back(statement.substr(i, end - i));
        }
        i = end;
    }
    return words;
}

bool is_double_literal(std::string_view word) {
    const bool hex = word.starts_with("0x") || word.starts_with("0X");
    const bool number = std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '.';
    const bool real = word.find_first_of(hex ? ".pP" : ".eE") != word.npos;
    return number && real && std::string_view("fFlL").find(word.back()) == std::string_view::npos;
}

// Returns the second argument of a call of `function` in the statement; empty if there is none.
std::string_view second_argument(std::string_view statement, std::string_view function) {
    const std::size_t call = statement.find(std::string(function) + "(");
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = call == statement.npos ? statement.size() : call + function.size(); i < statement.size();
         i++) {
        depth += statement[i] == '(' ? 1 : statement[i] == ')' ? -1 : 0;
        if (depth == 1 && statement[i] == ',') {
            begin = i + 1;
        }
        if (depth == 0) {
            const std::string_view argument = begin == 0 ? "" : statement.substr(begin, i - begin);
            return argument.substr(std::min(argument.find_first_not_of(" \n"), argument.size()));
        }
    }
    return {};
}

// Returns true if the file declares a variable, a parameter or a function of this name as a double.
bool is_declared_double(std::string_view code, std::string_view name) {
    for (std::size_t at = code.find("double"); at != code.npos; at = code.find("double", at + 1)) {
        std::string_view rest = code.substr(at + std::string_view("double").size());
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
        if ((at == 0 || !is_word(code[at - 1])) && rest.starts_with(name) &&
            (rest.size() == name.size() || !is_word(rest[name.size()]))) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string reason_for_double(std::string_view source, int line, bool host) {
    constexpr std::array kOfTheCLibrary{"acos",  "asin",  "atan", "atan2", "cbrt", "ceil",  "cos",
                                        "cosh",  "erf",   "exp",  "exp2",  "fabs", "floor", "fmax",
                                        "fmin",  "fmod",  "log",  "log10", "log2", "log1p", "pow",
                                        "round", "rsqrt", "sin",  "sinh",  "sqrt", "tan",   "tanh"};
    const std::string code = code_of(source);
    const std::string_view statement = statement_at(code, line);
    std::vector<std::string> reasons;
    const auto add = [&](std::string reason) {
        if (std::ranges::find(reasons, reason) == reasons.end()) {
            reasons.push_back(std::move(reason));
        }
    };
    for (const std::string_view word : words_of(statement)) {
        const std::string_view exponent =
            word == "std::pow" || word == "pow" ? second_argument(statement, word) : std::string_view();
        if (is_double_literal(word)) {
            add(fmt::format("{0} is one, {0}f is a float", word));
        } else if (!exponent.empty() &&
                   std::ranges::all_of(exponent, [](unsigned char c) { return std::isdigit(c); })) {
            add(fmt::format("{0} of an int computes in it, {0}(…, {1}.0f) in float", word, exponent));
        } else if (host && std::ranges::find(kOfTheCLibrary, word) != kOfTheCLibrary.end()) {
            add(fmt::format("{0} takes and returns one, std::{0} takes floats", word));
        } else if (is_word(word[0]) && is_declared_double(code, word)) {
            add(fmt::format("{} is one", word));
        }
    }
    return reasons.empty() ? "" : fmt::format(": {}", fmt::join(reasons, "; "));
}

bool means_double(std::string_view source, int line) {
    const std::string code = code_of(source);
    return std::ranges::any_of(words_of(statement_at(code, line)), [&](std::string_view word) {
        return word == "double" ||
               (std::isdigit(static_cast<unsigned char>(word[0])) == 0 && is_declared_double(code, word));
    });
}

std::string first_double(const std::filesystem::path& file) {
    const char* const compiler = std::getenv("CXX");
    const std::string command =
        "LC_ALL=C " + std::string(compiler == nullptr ? "g++" : compiler) +
        " -std=c++20 -I. -fsyntax-only -fdiagnostics-color=never -Wdouble-promotion -Wfloat-conversion -x c++ " +
        quoted(file.string()) + " 2>&1";
    try {
        const std::string said = run_command(command).output;
        for (const std::string_view one : split(said, '\n')) {
            if (const Location place = warned_location(one); place.line > 0) {
                return fmt::format("{}:{} computes in doubles{}", place.file.filename().string(), place.line,
                                   reason_for_double(read_file(place.file), place.line, true));
            }
        }
    } catch (const std::exception&) {}  // then nothing is said
    return "";
}

}  // namespace checker
