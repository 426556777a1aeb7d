// SPDX-License-Identifier: MIT
//
// Token ids from what a user gives. A model whose vocabulary has 256 tokens is byte-level: a token is a byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lessons/gpt2/files.h"

std::vector<int> tokens_of_bytes(std::string_view text);

// Ids between blanks and commas, also in brackets as Python prints a list. `where` is for messages; throws checker::FileError for anything else.
std::vector<int> parse_token_ids(std::string_view text, const std::string& where);

// The ids in a file of little-endian int32; or of int64, as NumPy and PyTorch write by default. Where the bytes could be
// either, they are taken for int64, and `note` is told.
std::vector<int> read_int32_tokens(const std::string& path, const Note& note = {});

// What --tokens-in takes: ids, "-" for standard input, or the name of a file or pipe that holds them as text or as read_int32_tokens() does. What is made
// of digits, separators and brackets only is ids; `note` is told where a file has that name.
std::vector<int> tokens_from_argument(const std::string& argument, const Note& note = {});
