// SPDX-License-Identifier: MIT
//
// Token ids from what a user gives. A model whose vocabulary has 256 tokens is byte-level: a token is a byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lessons/gpt2/files.h"

std::vector<int> tokens_of_bytes(std::string_view text);

// Ids between blanks and commas, also in brackets as Python prints a list. `where` is for messages; throws
// checker::FileError for anything else.
std::vector<int> parse_token_ids(std::string_view text, const std::string& where);

// The ids in a file of little-endian int32; or of int64, as NumPy and PyTorch write by default. Where the bytes could be
// either, they are taken for int64, and `note` is told.
std::vector<int> read_int32_tokens(const std::string& path, const Note& note = {});

// Returns the ids that --tokens-in gives: the argument's, if it is made of digits, separators and brackets only, or else
// those in the file or pipe of that name, as text or as read_int32_tokens() reads them; "-" is standard input. `note` is
// told if a file has the ids for its name.
std::vector<int> tokens_from_argument(const std::string& argument, const Note& note = {});
