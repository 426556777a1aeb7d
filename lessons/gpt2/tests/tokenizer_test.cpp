// SPDX-License-Identifier: MIT
#include "lessons/gpt2/tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lessons/gpt2/tests/support.h"

using nlohmann::json;

namespace {

// GPT-2's characters for the bytes, numbered from `first` on.
json vocabulary(int first) {
    json tokens = json::object();
    int moved = 0x100;
    for (int byte = 0; byte < 256; byte++) {
        const bool prints = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
        const int code = prints ? byte : moved++;
        const std::string text =
            code < 0x80 ? std::string(1, static_cast<char>(code))
                        : std::string{static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
        tokens[text] = (byte + first) % 256;
    }
    return tokens;
}

json byte_level(int first) {
    return {{"model", {{"type", "BPE"}, {"vocab", vocabulary(first)}, {"merges", json::array()}}},
            {"normalizer", nullptr},
            {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
            {"added_tokens", json::array({{{"id", 256}, {"content", "<|endoftext|>"}}})}};
}

// Returns what foreign_tokenizer() names in a folder of these files, or "".
std::string foreign(const std::map<std::string, std::string>& files) {
    const TemporaryFolder folder;
    for (const auto& [name, text] : files) { write_text(folder / name, text); }
    return foreign_tokenizer(folder.path()).value_or("");
}

// A byte-level tokenizer.json with another value at a JSON pointer.
std::string changed(const char* pointer, const json& value) {
    json tokenizer = byte_level(0);
    tokenizer[json::json_pointer(pointer)] = value;
    return tokenizer.dump();
}

}  // namespace

TEST(ForeignTokenizer, PassesBytesInOrder) {
    EXPECT_EQ(foreign({}), "");
    EXPECT_EQ(foreign({{"vocab.json", vocabulary(0).dump()}, {"merges.txt", "#version: 0.2\n"}}), "");
    EXPECT_EQ(
        foreign({{"tokenizer.json", byte_level(0).dump()},
                 {"tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": false})"}}),
        "");
}

TEST(ForeignTokenizer, PassesATemplateThatAddsNothing) {
    const json none{{"type", "TemplateProcessing"}, {"special_tokens", json::object()}};
    EXPECT_EQ(foreign({{"tokenizer.json", changed("/post_processor", none)}}), "");
}

TEST(ForeignTokenizer, NamesBytesInAnotherOrder) {
    EXPECT_EQ(foreign({{"vocab.json", vocabulary(1).dump()}}), "vocab.json");
    EXPECT_EQ(foreign({{"vocab.json", "{}"}}), "vocab.json");
    EXPECT_EQ(foreign({{"vocab.json", "no JSON"}}), "vocab.json");
    EXPECT_EQ(foreign({{"tokenizer.json", byte_level(1).dump()}}), "tokenizer.json");
    EXPECT_EQ(foreign({{"tokenizer.json", byte_level(1).dump()}, {"vocab.json", vocabulary(0).dump()}}),
              "tokenizer.json");
}

TEST(ForeignTokenizer, NamesWhatChangesTheBytes) {
    for (const auto& [pointer, value] : std::map<const char*, json>{
             {"/model/merges", json::array({json::array({"a", "b"})})},
             {"/normalizer", {{"type", "Lowercase"}}},
             {"/pre_tokenizer", nullptr},
             {"/pre_tokenizer/add_prefix_space", true},
             {"/post_processor", {{"type", "TemplateProcessing"}, {"special_tokens", {{"<s>", json::object()}}}}},
             {"/added_tokens/0/id", 10},
         }) {
        EXPECT_EQ(foreign({{"tokenizer.json", changed(pointer, value)}}), "tokenizer.json") << pointer;
    }
    EXPECT_EQ(foreign({{"vocab.json", vocabulary(0).dump()}, {"merges.txt", "#version: 0.2\na b\n"}}), "merges.txt");
    EXPECT_EQ(
        foreign({{"vocab.json", vocabulary(0).dump()}, {"tokenizer_config.json", R"({"add_prefix_space": true})"}}),
        "tokenizer_config.json");
}

TEST(ForeignTokenizer, ReadsAFileOfAnyDepth) {
    std::string deep;
    for (int i = 0; i < 200'000; i++) { deep += R"({"model":)"; }
    EXPECT_EQ(foreign({{"tokenizer.json", deep + "1" + std::string(200'000, '}')}}), "tokenizer.json");
}

TEST(ForeignTokenizer, NamesTokenisersOfOtherKinds) {
    EXPECT_EQ(foreign({{"tokenizer.model", ""}}), "tokenizer.model");
    EXPECT_EQ(foreign({{"tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer"})"}}), "tokenizer_config.json");
    EXPECT_EQ(foreign({{"tokenizer_config.json", "{}"}}), "");
}
