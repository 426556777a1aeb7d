// SPDX-License-Identifier: MIT
#include "lessons/gpt2/tokens.h"

#include <gtest/gtest.h>

#include "lessons/gpt2/tests/support.h"

namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST(Tokens, AreTheBytesOfAText) {
    EXPECT_EQ(tokens_of_bytes("a\xff"), (std::vector<int>{97, 255}));
}

TEST(Tokens, AreReadBetweenBlanksAndCommas) {
    EXPECT_EQ(parse_token_ids(" 15496,995\n0, 2147483647 ", "x"), (std::vector<int>{15496, 995, 0, 2147483647}));
    EXPECT_TRUE(parse_token_ids(" ,\n", "x").empty());
}

TEST(Tokens, AreNoWordsNegativeOrHugeNumbers) {
    EXPECT_EQ(parse_token_ids("[15496, 995]", "x"), (std::vector<int>{15496, 995}));
    EXPECT_EQ(parse_token_ids(" [[15496,\n 995]]\n", "x"), (std::vector<int>{15496, 995}));
    EXPECT_TRUE(parse_token_ids("[]", "x").empty());
    for (const char* text : {"[1], [2]", "[[1], [2]]", "[1", "1]", "]1[", "1 two", "-1", "1.5", "2147483648",
                             "99999999999999999999", "1;2"}) {
        EXPECT_TRUE(contains(message_of([&] { parse_token_ids(text, "ids.txt"); }), "ids.txt: ")) << text;
    }
}

TEST(Tokens, AreReadFromInt32Files) {
    const TemporaryFolder folder;
    write_text(folder / "ids", std::string("\x01\0\0\0\x02\x01\0\0", 8));
    EXPECT_EQ(read_int32_tokens((folder / "ids").string()), (std::vector<int>{1, 258}));
    write_text(folder / "ids", "12345");
    EXPECT_TRUE(
        contains(message_of([&] { read_int32_tokens((folder / "ids").string()); }), "5 bytes, no multiple of 4"));
}

TEST(Tokens, AreReadFromInt64FilesWithANote) {
    const TemporaryFolder folder;
    const auto read = [&](std::initializer_list<int> words) {
        std::string bytes;
        for (const int word : words) { bytes.append(reinterpret_cast<const char*>(&word), sizeof(word)); }
        write_text(folder / "ids", bytes);
        std::string said;
        const std::vector<int> tokens =
            read_int32_tokens((folder / "ids").string(), [&](const std::string& line) { said += line; });
        EXPECT_EQ(tokens_from_argument((folder / "ids").string()), tokens);
        return std::pair(tokens, said);
    };
    const auto [tokens, said] = read({72, 0, 105, 0});
    EXPECT_EQ(tokens, (std::vector<int>{72, 105}));
    EXPECT_TRUE(contains(said, "ids: every second int32 is 0: read as int64, 2 tokens; int32 is written by")) << said;
    const std::vector<int> labels{-100, 5};  // -100 marks what a loss ignores; no model takes it
    EXPECT_EQ(read({-100, -1, 5, 0}), std::pair(labels, std::string()));

    const std::vector<int> odd{72, 0, 105}, late{0, 72, 0, 105}, one{72, 0, 105, 1};
    EXPECT_EQ(read({72, 0, 105}), std::pair(odd, std::string()));
    EXPECT_EQ(read({0, 72, 0, 105}), std::pair(late, std::string()));
    EXPECT_EQ(read({72, 0, 105, 1}), std::pair(one, std::string()));
    EXPECT_EQ(read({}).first, std::vector<int>{});
}

TEST(Tokens, OfAnArgumentAreIdsOrAFileOfEitherKind) {
    const TemporaryFolder folder;
    EXPECT_EQ(tokens_from_argument("7, 8"), (std::vector<int>{7, 8}));
    write_text(folder / "text", "9 10\n");
    EXPECT_EQ(tokens_from_argument((folder / "text").string()), (std::vector<int>{9, 10}));
    write_text(folder / "binary", std::string("\x01\0\0\0", 4));
    EXPECT_EQ(tokens_from_argument((folder / "binary").string()), (std::vector<int>{1}));
    EXPECT_TRUE(contains(message_of([&] { tokens_from_argument((folder / "none").string()); }), "No such file"));
}
