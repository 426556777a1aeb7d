// SPDX-License-Identifier: MIT
//
// Ways through a run of tokens: brackets, names, and where a declaration begins and ends.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "checker/simt/lower/tokens.h"

namespace simt {

using Names = std::set<std::string_view>;

class Navigation {
  public:
    Navigation(const Source& source, const TokenRun& run) : source_(source), tokens_(run.tokens) {}

    std::size_t size() const { return tokens_.size(); }
    const Token& token(std::size_t i) const { return tokens_[i]; }

    // Returns "" beyond either end.
    std::string_view text(std::size_t i) const {
        return i < tokens_.size() ? source_.spelling(tokens_[i]) : std::string_view();
    }
    bool is(std::size_t i, std::string_view word) const { return text(i) == word; }

    // Three neighbouring < or >, with nothing between them.
    bool angles(std::size_t i, std::string_view angle) const;
    // Three of them with a space before the third, as in k << <1, 1>> >(x).
    bool parted_angles(std::size_t i, std::string_view angle) const;

    static bool opens(std::string_view word) { return word == "(" || word == "[" || word == "{"; }
    static bool closes(std::string_view word) { return word == ")" || word == "]" || word == "}"; }

    // The token that closes the bracket at i, or one beyond the end: a macro may hold it. `match` throws SourceError
    // instead.
    std::size_t match_if_any(std::size_t i) const;
    std::size_t match(std::size_t i) const;
    // The token that opens the bracket which closes at i, or i itself.
    std::size_t match_back(std::size_t i) const;
    // The < of the template arguments that end at the > at i. Throws SourceError if there is none.
    std::size_t match_angle_back(std::size_t i) const;
    // The > of the template arguments that begin with the < at i; one beyond the end if the < compares. `match_angle`
    // throws SourceError instead.
    std::size_t match_angle_if_any(std::size_t i) const;
    std::size_t match_angle(std::size_t i) const;

    // A word that may name something, unlike the words that begin a statement.
    bool is_name(std::size_t i) const;
    bool is_control(std::size_t i) const { return is(i, "if") || is(i, "for") || is(i, "while") || is(i, "switch"); }
    static bool takes_brackets(std::string_view word);

    bool mentions(std::size_t begin, std::size_t end, const Names& names) const;
    bool statement_has(std::size_t begin, std::size_t end, std::string_view word) const;

    // The first token of the declaration that token i is part of, and the ; at its end.
    std::size_t statement_begin(std::size_t i) const;
    std::size_t statement_end(std::size_t i) const;

    // The name of the function, other than a kernel, whose body begins with the { at i; i where none does.
    std::size_t function_name(std::size_t i) const;
    // Returns true if the innermost braces around token i are neither a namespace's nor those of extern "C".
    bool is_in_a_function(std::size_t i) const;

  protected:
    const Source& source_;
    const std::vector<Token>& tokens_;
};

}  // namespace simt
