// SPDX-License-Identifier: MIT
//
// The tokeniser files of a Hugging Face folder. This program turns text into tokens for one kind of model only: 256
// tokens, each the byte of its number.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

// Returns the name of a file in `dir` whose tokeniser gives a text other tokens than its bytes, or might: the bytes in
// another order, merges, a normaliser, a blank or a token added. Returns nothing if there is none, or no tokeniser.
std::optional<std::string> foreign_tokenizer(const std::filesystem::path& dir);

// Returns true if `dir` holds a tokeniser of any kind.
bool has_tokenizer(const std::filesystem::path& dir);
