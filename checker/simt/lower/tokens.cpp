// SPDX-License-Identifier: MIT
#include "checker/simt/lower/tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

namespace simt {
namespace {

bool starts_identifier(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & 0x80) != 0;
}

bool continues_identifier(char c) {
    return starts_identifier(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

struct LineMarker {
    long line;
    std::string file;
    bool system;  // the text that follows is of a system header, or of a macro that one defines
};

// # 12 "file" 1 3
std::optional<LineMarker> parse_line_marker(std::string_view line) {
    if (line.size() < 5 || line[0] != '#' || line[1] != ' ' || std::isdigit(static_cast<unsigned char>(line[2])) == 0) {
        return std::nullopt;
    }
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (open == std::string_view::npos || close <= open) {
        return std::nullopt;
    }
    return LineMarker{std::stol(std::string(line.substr(2, open - 2))),
                      std::string(line.substr(open + 1, close - open - 1)),
                      line.substr(close).find('3') != std::string_view::npos};
}

}  // namespace

class Tokenizer {
  public:
    explicit Tokenizer(Source& source) : source_(source), text_(source.text_) {}

    void run() {
        note_user_files();
        source_.runs_.emplace_back();
        while (at_ < text_.size()) {
            if (line_start_ && skip_blanks_to_hash()) {
                directive();
                continue;
            }
            line_start_ = text_[at_] == '\n' || (line_start_ && is_blank(text_[at_]));
            token();
        }
    }

  private:
    static bool is_blank(char c) { return c == ' ' || c == '\t'; }

    bool skip_blanks_to_hash() const {
        std::size_t i = at_;
        while (i < text_.size() && is_blank(text_[i])) { i++; }
        return i < text_.size() && text_[i] == '#';
    }

    // Notes the last place at which a marker of each file says that the user's own text follows.
    void note_user_files() {
        for (std::size_t at = 0; at < text_.size(); at = line_end(at) + 1) {
            const auto marker = parse_line_marker(std::string_view(text_).substr(at, line_end(at) - at));
            if (marker && !marker->system) {
                user_files_[marker->file] = at;
            }
        }
    }

    // The preprocessor marks the text of a system header's macro too, inside a file of the user. A header that calls
    // itself the system's is marked to its end.
    bool is_of_system_header(const LineMarker& marker, std::size_t at) const {
        const auto user = user_files_.find(marker.file);
        return marker.system && (user == user_files_.end() || user->second < at);
    }

    std::size_t line_end(std::size_t from) const { return std::min(text_.find('\n', from), text_.size()); }

    // The end of a directive, including the lines that a backslash joins to it.
    std::size_t directive_end() const {
        std::size_t end = line_end(at_);
        while (end < text_.size() && text_[end - 1] == '\\') { end = line_end(end + 1); }
        return end;
    }

    void directive() {
        const std::size_t end = directive_end();
        const std::string_view line = std::string_view(text_).substr(at_, end - at_);
        if (const std::optional<LineMarker> marker = parse_line_marker(line)) {
            const bool system = is_of_system_header(*marker, at_);
            at_ = end;
            if (system) {
                skip_system_header();
            }
            return;
        }
        const std::size_t hash = line.find('#');
        const std::size_t word = line.find_first_not_of(" \t", hash + 1);
        if (word == std::string_view::npos || !line.substr(word).starts_with("define")) {
            at_ = end;
            return;
        }
        TokenRun outer = std::move(source_.runs_.back());
        source_.runs_.back() = TokenRun{.tokens = {}, .is_macro = true};
        at_ += word + std::string_view("define").size();
        while (at_ < end) { token(); }
        std::swap(source_.runs_.back(), outer);
        source_.runs_.insert(source_.runs_.end() - 1, std::move(outer));
    }

    // Goes to the linemarker at which the user's text begins again.
    void skip_system_header() {
        while (at_ < text_.size()) {
            at_ = std::min(at_ + 1, text_.size());
            const std::size_t end = line_end(at_);
            const std::string_view line = std::string_view(text_).substr(at_, end - at_);
            note_refused(line);
            const auto marker = parse_line_marker(line);
            if (marker && !is_of_system_header(*marker, at_)) {
                at_ = end;
                return;
            }
            at_ = end;
        }
    }

    void note_refused(std::string_view line) {
        static constexpr std::string_view kPragma = "#pragma simt refuses ";
        if (line.starts_with(kPragma)) {
            line.remove_prefix(kPragma.size());
            const std::size_t blank = std::min(line.find(' '), line.size()), colons = line.find("::");
            const std::size_t end = colons < blank ? colons + 2 : blank;  // clang-format joins what follows a namespace
            const std::size_t what = std::min(line.find_first_not_of(' ', end), line.size());
            std::string_view names = line.substr(0, end);
            const bool whole = names.find(',') != std::string_view::npos;
            while (!names.empty()) {
                const std::size_t comma = std::min(names.find(','), names.size());
                source_.refused_.push_back(
                    {std::string(names.substr(0, comma)), std::string(line.substr(what)), whole});
                names.remove_prefix(std::min(comma + 1, names.size()));
            }
        }
    }

    bool follows(std::string_view what) const { return std::string_view(text_).substr(at_).starts_with(what); }

    void token() {
        const char c = text_[at_];
        if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\\') {
            at_++;
        } else if (follows("//")) {
            do { at_ = line_end(at_ + 1); } while (at_ < text_.size() && text_[at_ - 1] == '\\');
        } else if (follows("/*")) {
            skip_to_after("*/", 2, "a comment that never ends");
        } else if (starts_identifier(c)) {
            identifier();
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            number();
        } else if (c == '"' || c == '\'') {
            quoted(at_);
        } else {
            add(TokenKind::punctuator, at_, follows("::") || follows("->") ? at_ + 2 : at_ + 1);
        }
    }

    void identifier() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && continues_identifier(text_[at_])) { at_++; }
        const std::string_view word = std::string_view(text_).substr(begin, at_ - begin);
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') &&
            (word == "L" || word == "u" || word == "U" || word == "u8")) {
            quoted(begin);
        } else if (at_ < text_.size() && text_[at_] == '"' &&
                   (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R")) {
            raw_string(begin);
        } else {
            add(TokenKind::identifier, begin, at_);
        }
    }

    void number() {
        const std::size_t begin = at_;
        while (at_ < text_.size() &&
               (continues_identifier(text_[at_]) || text_[at_] == '.' ||
                (text_[at_] == '\'' && at_ + 1 < text_.size() && continues_identifier(text_[at_ + 1])) ||
                ((text_[at_] == '+' || text_[at_] == '-') &&
                 std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos &&
                 !(text_[begin] == '0' && begin + 1 < text_.size() && (text_[begin + 1] | 0x20) == 'x' &&
                   (text_[at_ - 1] | 0x20) == 'e')))) {
            at_++;
        }
        add(TokenKind::number, begin, at_);
    }

    void quoted(std::size_t begin) {
        const char quote = text_[at_];
        for (std::size_t i = at_ + 1; i < text_.size() && text_[i] != '\n'; i++) {
            if (text_[i] == '\\') {
                i++;
            } else if (text_[i] == quote) {
                add(TokenKind::text, begin, i + 1);
                return;
            }
        }
        // An apostrophe in skipped text (#error, #if 0) is not an error; the compiler judges the rest.
        add(TokenKind::text, begin, line_end(at_));
    }

    void raw_string(std::size_t begin) {
        const std::size_t open = text_.find('(', at_);
        if (open == std::string::npos) {
            throw source_.error(begin, "a raw string that never ends");
        }
        const std::string close = ')' + text_.substr(at_ + 1, open - at_ - 1) + '"';
        at_ = open;
        skip_to_after(close, 1, "a raw string that never ends");
        add(TokenKind::text, begin, at_);
    }

    void skip_to_after(std::string_view what, std::size_t from, const char* unless) {
        const std::size_t found = text_.find(what, at_ + from);
        if (found == std::string::npos) {
            throw source_.error(at_, unless);
        }
        at_ = found + what.size();
    }

    void add(TokenKind kind, std::size_t begin, std::size_t end) {
        source_.runs_.back().tokens.push_back({kind, begin, end});
        at_ = end;
    }

    Source& source_;
    const std::string& text_;
    std::map<std::string, std::size_t> user_files_;
    std::size_t at_ = 0;
    bool line_start_ = true;
};

Source::Source(std::string text) : text_(std::move(text)) {
    Tokenizer(*this).run();
}

std::string Source::place(std::size_t offset) const {
    std::string file = "input";
    long line = 1;
    for (std::size_t begin = 0; begin <= offset && begin < text_.size();) {
        const std::size_t end = std::min(text_.find('\n', begin), text_.size());
        if (const auto marker = parse_line_marker(std::string_view(text_).substr(begin, end - begin))) {
            file = marker->file;
            line = marker->line;
        } else if (offset > end) {
            line++;
        }
        begin = end + 1;
    }
    return fmt::format("{}:{}", file, line);
}

SourceError Source::error(std::size_t offset, const std::string& what) const {
    return SourceError(fmt::format("{}: error: {}", place(offset), what));
}

}  // namespace simt
