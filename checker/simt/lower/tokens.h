// SPDX-License-Identifier: MIT
//
// C++ source as tokens: enough to find launches and CUDA's declaration words; it is not a parser. Comments are not
// tokens.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

enum class TokenKind { identifier, number, text, punctuator };

struct Token {
    TokenKind kind;
    std::size_t begin;  // offsets into the source
    std::size_t end;
};

// Tokens that stand beside each other: the text between two directives, or the body of one #define. System headers
// (linemarker flag 3) have none. A `<` or `>` is always a token of its own.
struct TokenRun {
    std::vector<Token> tokens;
    bool is_macro = false;
};

// What is wrong with the source, as "file:line: error: what".
struct SourceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Names of a library that the device lacks. A stand-in header says which: `#pragma simt refuses cudnn cuDNN`; with commas
// they are whole names, which may end in _v2 and _64 besides: `#pragma simt refuses cublasSdot,cublasDdot such function`.
struct Refused {
    std::string begin;  // of its names; with :: at the end it is a namespace
    std::string what;   // the library
    bool whole = false;
};

class Source {
  public:
    // The output of g++ -E, with -fdirectives-only or without. Throws SourceError on an unterminated comment, string or character.
    explicit Source(std::string text);

    const std::string& text() const { return text_; }
    const std::vector<TokenRun>& runs() const { return runs_; }
    const std::vector<Refused>& refused() const { return refused_; }
    std::string_view spelling(const Token& token) const {
        return std::string_view(text_).substr(token.begin, token.end - token.begin);
    }
    // "file:line" of an offset, as the linemarkers give it, and an error there.
    std::string place(std::size_t offset) const;
    SourceError error(std::size_t offset, const std::string& what) const;

  private:
    friend class Tokenizer;
    std::string text_;
    std::vector<TokenRun> runs_;
    std::vector<Refused> refused_;
};

}  // namespace simt
