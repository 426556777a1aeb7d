// SPDX-License-Identifier: MIT
#include "checker/simt/lower/functions.h"

#include <algorithm>

namespace simt {
namespace {

enum class Scope { namespaces, classes };

class Reader {
  public:
    explicit Reader(const Navigation& tokens) : tokens_(tokens) {}

    Declarations run() {
        read(0, tokens_.size(), Scope::namespaces);
        return std::move(found_);
    }

  private:
    bool is(std::size_t i, std::string_view word) const { return tokens_.is(i, word); }

    // Goes over a bracket, the arguments of a template, or one token.
    std::size_t next(std::size_t i) const {
        if (Navigation::opens(tokens_.text(i))) {
            return tokens_.match_if_any(i) + 1;
        }
        if (is(i, "<")) {
            const std::size_t close = tokens_.match_angle_if_any(i);
            return close < tokens_.size() ? close + 1 : i + 1;
        }
        return i + 1;
    }

    // The ( of the parameters of the function that [begin, end) declares; `end` where it declares none.
    std::size_t parameters(std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; i = next(i)) {
            if (is(i, "=")) {
                return end;
            }
            if (is(i, "operator")) {
                i = is(i + 1, "(") ? i + 3 : i + 1;
                while (i < end && !is(i, "(")) { i++; }
                return std::min(i, end);
            }
            if (Navigation::takes_brackets(tokens_.text(i)) && is(i + 1, "(")) {
                i++;
            } else if (is(i, "(")) {
                if (is(tokens_.match_if_any(i) + 1, "(")) {  // void (name)(parameters)
                    i = tokens_.match_if_any(i) + 1;
                }
                return i < end ? i : end;
            }
        }
        return end;
    }

    // The outermost words of [begin, end).
    bool has(std::size_t begin, std::size_t end, std::string_view word) const {
        for (std::size_t i = begin; i < end; i = next(i)) {
            if (is(i, word)) {
                return true;
            }
        }
        return false;
    }

    bool declares_class(std::size_t begin, std::size_t end) const {
        return has(begin, end, "class") || has(begin, end, "struct") || has(begin, end, "union");
    }

    // Keeps the function that [begin, end) declares, before its body at `end` or before a ;.
    void function(std::size_t begin, std::size_t end, Scope scope, bool defined) {
        const std::size_t open = parameters(begin, end);
        if (open == end || open == begin) {
            return;
        }
        std::size_t by_word = begin;
        while (by_word < open && !is(by_word, "operator")) { by_word = next(by_word); }
        const std::size_t name = by_word < open      ? by_word
                                 : is(open - 1, ")") ? tokens_.match_back(open - 1) + 1
                                 : is(open - 1, ">") ? tokens_.match_angle_back(open - 1) - 1
                                                     : open - 1;
        if (!tokens_.is_name(name) || is(name - 1, "~") || has(begin, open, "friend") || has(begin, open, "typedef") ||
            has(begin, open, "using") || has(begin, open, "static_assert")) {
            return;
        }
        Function found{.begin = begin, .name = name};
        if (defined) {
            found.open = end;
            found.close = tokens_.match_if_any(end);
        }
        found.is_kernel = has(begin, end, "__global__");
        found.is_device = has(begin, end, "__device__");
        found.is_host = has(begin, end, "__host__");
        found.is_constexpr = has(begin, open, "constexpr") || has(begin, open, "consteval");
        found.is_member = scope == Scope::classes || is(name - 1, "::");
        found.is_emitted = !found.is_member && !found.is_constexpr;
        for (const char* word : {"inline", "__inline__", "__forceinline__", "static", "template"}) {
            found.is_emitted = found.is_emitted && !has(begin, open, word);
        }
        found.is_defaulted = has(open, end, "default") || has(open, end, "delete");
        found_.functions.push_back(found);
    }

    void constant_array(std::size_t begin, std::size_t end) {
        if (!has(begin, end, "const") && !has(begin, end, "constexpr")) {
            return;
        }
        for (const char* word : {"__device__", "__constant__", "__managed__", "__shared__", "extern", "using", "*"}) {
            if (has(begin, end, word)) {
                return;
            }
        }
        for (std::size_t i = begin; i < end && !is(i, "="); i = next(i)) {
            if (is(i, "(")) {
                return;
            }
            if (is(i + 1, "[") && tokens_.is_name(i) && i > begin) {
                found_.constant_arrays.push_back(i);
                return;
            }
        }
    }

    // Returns true if the { at i belongs to an initializer: of a variable, or of a member between `:` and a constructor's body.
    bool initializes(std::size_t begin, std::size_t i) const {
        const std::size_t open = parameters(begin, i);
        if (open == i) {
            return has(begin, i, "=") || is(i - 1, "[");
        }
        return has(next(open), i, ":") && tokens_.is_name(i - 1) && !is(i - 1, "try");
    }

    void read(std::size_t i, std::size_t end, Scope scope) {
        std::size_t begin = i;
        for (; i < end; i++) {
            if (is(i, "template") && is(i + 1, "<")) {
                i = std::max(i, next(i + 1) - 1);
            } else if (is(i, "(") || is(i, "[")) {
                i = next(i) - 1;
            } else if (is(i, ":") && i == begin + 1) {  // public:
                begin = i + 1;
            } else if (is(i, ";")) {
                function(begin, i, scope, false);
                if (scope == Scope::namespaces) {
                    constant_array(begin, i);
                }
                begin = i + 1;
            } else if (is(i, "{")) {
                const std::size_t close = tokens_.match_if_any(i);
                if (has(begin, i, "namespace") || (is(i - 2, "extern") && i == begin + 2)) {
                    if (tokens_.is_name(i - 1) && !is(i - 1, "namespace")) {
                        found_.namespaces.push_back(i - 1);
                    }
                    read(i + 1, close, scope);
                    begin = close + 1;
                } else if (parameters(begin, i) == i && declares_class(begin, i) && !has(begin, i, "enum") &&
                           !has(begin, i, "=")) {
                    read(i + 1, close, Scope::classes);
                    begin = i;  // no function is declared between } and ;
                } else if (!initializes(begin, i) && parameters(begin, i) < i) {
                    function(begin, i, scope, true);
                    begin = close + 1;
                }
                i = close;
            }
        }
    }

    const Navigation& tokens_;
    Declarations found_;
};

}  // namespace

Declarations declarations(const Navigation& tokens) {
    return Reader(tokens).run();
}

}  // namespace simt
