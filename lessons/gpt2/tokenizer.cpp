// SPDX-License-Identifier: MIT
#include "lessons/gpt2/tokenizer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "lessons/gpt2/files.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxFile = 64u << 20;

// Tokenisers of other kinds: SentencePiece, WordPiece, nanoGPT's table of characters.
constexpr std::array kOtherKinds{"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.txt", "meta.pkl"};

bool is_there(const fs::path& file) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(file, ignored));
}

json read_json(const fs::path& file) {
    return json::parse(read_file(file, kMaxFile), nullptr, false);  // discarded where it is not JSON
}

// Returns the member of an object, or null. Not a copy: of a deep value it would need a deep stack.
const json& member(const json& object, const char* key) {
    static const json null;
    const auto found = object.find(key);
    return found == object.end() ? null : *found;
}

// Returns the character that stands for a byte in the vocabularies of GPT-2: the byte's own where Latin-1 prints it,
// the next one from U+0100 on for the others.
std::array<std::string, 256> byte_characters() {
    std::array<std::string, 256> characters;
    unsigned next = 0x100;
    for (unsigned byte = 0; byte < characters.size(); byte++) {
        const bool prints = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
        const unsigned code = prints ? byte : next++;
        std::string& text = characters[byte];
        if (code < 0x80) {
            text = std::string(1, static_cast<char>(code));
        } else {
            text = {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
        }
    }
    return characters;
}

// Returns true if the token of each byte has the byte's number. Other tokens may follow.
bool numbers_bytes_in_order(const json& vocabulary) {
    const std::array<std::string, 256> characters = byte_characters();
    for (std::size_t byte = 0; byte < characters.size(); byte++) {
        if (member(vocabulary, characters[byte].c_str()) != json(byte)) {
            return false;
        }
    }
    return true;
}

// Returns true for a post-processor that adds no token: transformers 5 writes a template without special tokens.
bool adds_nothing(const json& after) {
    const json& type = member(after, "type");
    return after.is_null() || type == "ByteLevel" ||
           (type == "TemplateProcessing" && member(after, "special_tokens") == json::object());
}

// Returns true if nothing but the bytes' numbers comes out of a tokenizer.json.
bool gives_bytes(const json& tokenizer) {
    const json& model = member(tokenizer, "model");
    const json& splitter = member(tokenizer, "pre_tokenizer");
    const json& after = member(tokenizer, "post_processor");
    const json& added = member(tokenizer, "added_tokens");
    const bool replaces_bytes = std::ranges::any_of(
        added, [](const json& token) { return !member(token, "id").is_number() || token["id"].get<double>() < 256; });
    return numbers_bytes_in_order(member(model, "vocab")) && member(model, "merges").empty() && !replaces_bytes &&
           member(tokenizer, "normalizer").is_null() && member(splitter, "type") == "ByteLevel" &&
           member(splitter, "add_prefix_space") == false && adds_nothing(after);
}

// Returns true if a merges.txt has a line besides its version.
bool has_merges(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (!line.starts_with("#version") && line.find_first_not_of(" \r") != std::string_view::npos) {
            return true;
        }
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return false;
}

}  // namespace

std::optional<std::string> foreign_tokenizer(const fs::path& dir) {
    const bool whole = is_there(dir / "tokenizer.json"), vocabulary = is_there(dir / "vocab.json");
    if (whole && !gives_bytes(read_json(dir / "tokenizer.json"))) {
        return "tokenizer.json";
    }
    if (vocabulary && !numbers_bytes_in_order(read_json(dir / "vocab.json"))) {
        return "vocab.json";
    }
    if (is_there(dir / "merges.txt") && has_merges(read_file(dir / "merges.txt", kMaxFile))) {
        return "merges.txt";
    }
    if (is_there(dir / "tokenizer_config.json")) {
        const json config = read_json(dir / "tokenizer_config.json");
        const auto is_set = [&config](const char* key) { return member(config, key) == true; };
        const bool unknown_class = !whole && !vocabulary && !member(config, "tokenizer_class").is_null();
        if (unknown_class || is_set("add_prefix_space") || is_set("add_bos_token") || is_set("add_eos_token")) {
            return "tokenizer_config.json";
        }
    }
    const auto other = std::ranges::find_if(kOtherKinds, [&dir](const char* name) { return is_there(dir / name); });
    return other == kOtherKinds.end() ? std::nullopt : std::optional<std::string>(*other);
}

bool has_tokenizer(const fs::path& dir) {
    const auto has = [&dir](const char* name) { return is_there(dir / name); };
    return has("tokenizer.json") || has("vocab.json") || std::ranges::any_of(kOtherKinds, has);
}
