// SPDX-License-Identifier: MIT
#include "checker/simt/lower/navigation.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace simt {

bool Navigation::angles(std::size_t i, std::string_view angle) const {
    return is(i, angle) && is(i + 1, angle) && is(i + 2, angle) && tokens_[i].end == tokens_[i + 1].begin &&
           tokens_[i + 1].end == tokens_[i + 2].begin;
}

bool Navigation::parted_angles(std::size_t i, std::string_view angle) const {
    return is(i, angle) && is(i + 1, angle) && is(i + 2, angle) && tokens_[i].end == tokens_[i + 1].begin;
}

std::size_t Navigation::match_if_any(std::size_t i) const {
    int depth = 0;
    for (std::size_t j = i; j < tokens_.size(); j++) {
        depth += opens(text(j)) ? 1 : closes(text(j)) ? -1 : 0;
        if (depth == 0) {
            return j;
        }
    }
    return tokens_.size();
}

std::size_t Navigation::match(std::size_t i) const {
    const std::size_t close = match_if_any(i);
    if (close == tokens_.size()) {
        throw source_.error(tokens_[i].begin, fmt::format("'{}' without its end", text(i)));
    }
    return close;
}

std::size_t Navigation::match_back(std::size_t i) const {
    int depth = 0;
    for (std::size_t j = i + 1; j-- > 0;) {
        depth += closes(text(j)) ? 1 : opens(text(j)) ? -1 : 0;
        if (depth == 0) {
            return j;
        }
    }
    return i;
}

std::size_t Navigation::match_angle_back(std::size_t i) const {
    int depth = 0;
    for (std::size_t j = i + 1; j-- > 0;) {
        if (closes(text(j))) {
            j = match_back(j);
        } else if (is(j, ">")) {
            depth++;
        } else if (is(j, "<") && --depth == 0) {
            return j;
        }
    }
    throw source_.error(tokens_[i].begin, "template arguments without their '<'");
}

std::size_t Navigation::match_angle_if_any(std::size_t i) const {
    int depth = 0;
    for (std::size_t j = i; j < tokens_.size() && !closes(text(j)) && !is(j, ";"); j++) {
        if (opens(text(j))) {
            j = match_if_any(j);
        } else if (is(j, "<")) {
            depth++;
        } else if (is(j, ">") && --depth == 0) {
            return j;
        }
    }
    return tokens_.size();
}

std::size_t Navigation::match_angle(std::size_t i) const {
    const std::size_t close = match_angle_if_any(i);
    if (close == tokens_.size()) {
        throw source_.error(tokens_[i].begin, "template arguments without their '>'");
    }
    return close;
}

bool Navigation::is_name(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier && !is(i, "return") && !is(i, "else") &&
           !is(i, "do");
}

bool Navigation::takes_brackets(std::string_view word) {
    static constexpr std::array kWords = {"__launch_bounds__", "__attribute__", "__align__",
                                          "alignas",           "noexcept",      "decltype",
                                          "__cluster_dims__",  "requires",      "__maxnreg__"};
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool Navigation::mentions(std::size_t begin, std::size_t end, const Names& names) const {
    for (std::size_t j = begin; j < std::min(end, tokens_.size()); j++) {
        if (tokens_[j].kind == TokenKind::identifier && names.contains(text(j))) {
            return true;
        }
    }
    return false;
}

std::size_t Navigation::function_name(std::size_t i) const {
    std::size_t close = i - 1;
    while (is(close, "const") || is(close, "noexcept") || is(close, "override")) { close--; }
    const std::size_t name = is(close, ")") ? match_back(close) - 1 : i;
    static const Names kOthers = {"if", "for", "while", "switch", "constexpr", "catch"};
    return name >= tokens_.size() || tokens_[name].kind != TokenKind::identifier || kOthers.contains(text(name)) ||
                   statement_has(statement_begin(name), name, "__global__")
               ? i
               : name;
}

std::size_t Navigation::statement_begin(std::size_t i) const {
    while (i > 0) {
        const std::string_view before = text(i - 1);
        if (before == ";" || before == "{" || before == "}" || before == ":" || before == ")") {
            // __align__(16) and alignas(16) belong to the declaration.
            if (before == ")" && takes_brackets(text(match_back(i - 1) - 1))) {
                i = match_back(i - 1) - 1;
                continue;
            }
            break;
        }
        i--;
    }
    return i;
}

std::size_t Navigation::statement_end(std::size_t i) const {
    while (i < tokens_.size() && !is(i, ";")) { i = opens(text(i)) ? match(i) + 1 : i + 1; }
    return i;
}

bool Navigation::statement_has(std::size_t begin, std::size_t end, std::string_view word) const {
    for (std::size_t j = begin; j < end; j++) {
        if (is(j, word)) {
            return true;
        }
    }
    return false;
}

bool Navigation::is_in_a_function(std::size_t i) const {
    for (std::size_t j = i; j-- > 0;) {
        if (closes(text(j))) {
            j = match_back(j);
        } else if (is(j, "{")) {
            while (is(j - 1, "::") || (is_name(j - 1) && !is(j - 1, "namespace"))) { j--; }
            return !is(j - 1, "namespace") && !is(j - 2, "extern");
        }
    }
    return false;
}

}  // namespace simt
