// SPDX-License-Identifier: MIT
#include "lessons/gpt2/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::string shown(std::string_view bytes) {
    Utf8Stream stream;
    const std::string text = stream.push(bytes);
    return text + stream.finish();
}

std::string replaced(int times) {
    std::string text;
    for (int i = 0; i < times; i++) { text += kReplacement; }
    return text;
}

std::string encoded(std::uint32_t code) {
    const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
    if (code < 0x80) {
        return {byte(code)};
    }
    if (code < 0x800) {
        return {byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f))};
    }
    if (code < 0x10000) {
        return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 0x3f)), byte(0x80 | (code & 0x3f))};
    }
    return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f)), byte(0x80 | (code >> 6 & 0x3f)),
            byte(0x80 | (code & 0x3f))};
}

}  // namespace

TEST(Utf8Stream, PassesEveryValidCharacterUnchanged) {
    for (std::uint32_t code = 0; code <= 0x10ffff; code++) {
        const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
        if (control || (code >= 0xd800 && code < 0xe000)) {
            continue;
        }
        ASSERT_EQ(shown(encoded(code)), encoded(code)) << "U+" << std::hex << code;
    }
}

TEST(Utf8Stream, HoldsTheBytesOfACharacterUntilItIsComplete) {
    Utf8Stream stream;
    EXPECT_EQ(stream.push("a\xf0\x9f"), "a");
    EXPECT_EQ(stream.push("\x98"), "");
    EXPECT_EQ(stream.push("\x80z"), "\xf0\x9f\x98\x80z");
    EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, ReplacesACharacterThatTheEndCutsOff) {
    EXPECT_EQ(shown("a\xe2\x82"), "a" + replaced(1));
}

TEST(Utf8Stream, ReplacesBytesThatStartNoCharacter) {
    EXPECT_EQ(shown("\x80\xbf\xc0\xc1\xf5\xff"), replaced(6));
}

TEST(Utf8Stream, ReplacesOverlongForms) {
    EXPECT_EQ(shown("\xc0\xaf"), replaced(2));
    EXPECT_EQ(shown("\xe0\x80\xaf"), replaced(3));
    EXPECT_EQ(shown("\xf0\x80\x80\xaf"), replaced(4));
}

TEST(Utf8Stream, ReplacesSurrogatesAndCodesBeyondUnicode) {
    EXPECT_EQ(shown("\xed\xa0\x80"), replaced(3));
    EXPECT_EQ(shown("\xf4\x90\x80\x80"), replaced(4));
}

TEST(Utf8Stream, ReplacesABrokenCharacterOnceAndKeepsWhatFollows) {
    // The example of the Unicode Standard, table 3-8: the maximal beginning of a character is one replacement.
    EXPECT_EQ(shown("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64"),
              "a" + replaced(3) + "b" + replaced(1) + "c" + replaced(2) + "d");
}

TEST(Utf8Stream, KeepsTerminalCommandsFromTheTerminal) {
    EXPECT_EQ(shown("\x1b[2J"), replaced(1) + "[2J");
    EXPECT_EQ(shown("\xc2\x9b"), replaced(1));  // U+009B: the same command in one character
    EXPECT_EQ(shown("\r\x7f\a"), replaced(3));
    EXPECT_EQ(shown("a\n\tb"), "a\n\tb");
}

TEST(Utf8Stream, GivesTheSameTextHoweverTheBytesArrive) {
    std::string bytes;
    std::uint32_t state = 1;
    for (int i = 0; i < 10000; i++) {
        state = state * 1664525u + 1013904223u;
        bytes += static_cast<char>(state >> 24);
    }
    Utf8Stream stream;
    std::string text;
    for (const char byte : bytes) { text += stream.push(std::string_view(&byte, 1)); }
    EXPECT_EQ(text + stream.finish(), shown(bytes));
}
