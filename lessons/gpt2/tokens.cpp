// SPDX-License-Identifier: MIT
#include "lessons/gpt2/tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <span>

#include "checker/cases/safetensors.h"
#include "lessons/gpt2/files.h"

using checker::FileError;

namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

constexpr std::size_t kMaxFile = 1u << 30;
constexpr std::string_view kSeparators = ", \t\r\n";

// Returns true if every second int32 continues the sign of the one before it, as in a file of int64.
bool is_int64(std::span<const int> words) {
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        if (words[i + 1] != (words[i] < 0 ? -1 : 0)) {
            return false;
        }
    }
    return !words.empty() && words.size() % 2 == 0;
}

std::vector<int> tokens_of_int32(std::string_view bytes, const std::string& where, const Note& note) {
    static_assert(sizeof(int) == sizeof(std::int32_t));
    if (bytes.size() % sizeof(int) != 0) {
        throw FileError(fmt::format("{}: is {} bytes, no multiple of 4; it must hold token ids as little-endian int32",
                                    where, bytes.size()));
    }
    std::vector<int> tokens(bytes.size() / sizeof(int));
    if (!tokens.empty()) {
        std::memcpy(tokens.data(), bytes.data(), bytes.size());
    }
    if (is_int64(tokens)) {
        for (std::size_t i = 0; i < tokens.size(); i += 2) { tokens[i / 2] = tokens[i]; }
        tokens.resize(tokens.size() / 2);
        const bool valid =
            std::ranges::none_of(tokens, [](int token) { return token < 0; });  // else: refused by the caller
        if (note && valid) {
            note(
                fmt::format("{}: every second int32 is 0: read as int64, {} token{}; int32 is written by "
                            "numpy.array(ids, 'int32').tofile(...)",
                            where, tokens.size(), tokens.size() == 1 ? "" : "s"));
        }
    }
    return tokens;
}

// Returns a list without the brackets around it: [1, 2], and [[1, 2]], a batch of one, as Python prints them.
std::string_view without_brackets(std::string_view text) {
    for (;;) {
        const std::size_t first = text.find_first_not_of(kSeparators), last = text.find_last_not_of(kSeparators);
        if (first == std::string_view::npos || text[first] != '[' || text[last] != ']') {
            return text;
        }
        text = text.substr(first + 1, last - first - 1);
    }
}

}  // namespace

std::vector<int> tokens_of_bytes(std::string_view text) {
    std::vector<int> tokens;
    tokens.reserve(text.size());
    for (const char c : text) { tokens.push_back(static_cast<unsigned char>(c)); }
    return tokens;
}

std::vector<int> parse_token_ids(std::string_view text, const std::string& where) {
    std::vector<int> tokens;
    text = without_brackets(text);
    for (;;) {
        const std::size_t first = text.find_first_not_of(kSeparators);
        if (first == std::string_view::npos) {
            return tokens;
        }
        text.remove_prefix(first);
        const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
        int id = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (error != std::errc() || end != word.data() + word.size() || id < 0) {
            throw FileError(fmt::format("{}: {} is no token id; write ids as 15496,995 or with blanks between", where,
                                        checker::in_quotes(word)));
        }
        tokens.push_back(id);
        text.remove_prefix(word.size());
    }
}

std::vector<int> read_int32_tokens(const std::string& path, const Note& note) {
    return tokens_of_int32(read_input(path, kMaxFile), input_name(path), note);
}

std::vector<int> tokens_from_argument(const std::string& argument, const Note& note) {
    // Told apart by the argument alone: the same command must not mean another thing in another folder.
    std::error_code none;
    const bool is_file = std::filesystem::exists(argument, none);
    if (argument != "-" && argument.find_first_not_of("0123456789-+[] ,\t\r\n") == std::string::npos) {
        if (is_file && note) {
            note(fmt::format("--tokens-in {0}: taken as ids; ./{0} names the file", argument));
        }
        return parse_token_ids(argument, "--tokens-in");
    }
    if (argument != "-" && !is_file && argument.find_first_of("-0123456789[") == 0) {
        return parse_token_ids(argument, "--tokens-in");  // throws, and names what is not an id
    }
    const std::string bytes = read_input(argument, kMaxFile);
    // Ids below 2^24 have a zero byte in their int32; text has none.
    return bytes.find('\0') != std::string::npos ? tokens_of_int32(bytes, input_name(argument), note)
                                                 : parse_token_ids(bytes, input_name(argument));
}
