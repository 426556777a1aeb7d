// SPDX-License-Identifier: MIT
//
// Whole files, read and written so that an error is one clear line and nothing is left half-written.
// Errors throw checker::FileError.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

// Takes a line for the user: what was assumed where a file left a doubt.
using Note = std::function<void(const std::string&)>;

// The bytes of a regular file of at most max_bytes.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes);

// As read_file(), for what a user names as input: pipes and devices too, and "-" for standard input.
std::string read_input(const std::string& path, std::size_t max_bytes);
std::string input_name(const std::string& path);  // for messages

// Writes under a temporary name in the same folder, then renames: path holds all of bytes or what it held before.
// A device or pipe is written directly, and what is open already (standard output or error, /dev/fd/N) through its
// descriptor.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Returns true for "-", and for a path that leads to what standard output is open on: /dev/stdout, the file of `> FILE`.
bool is_standard_output(const std::filesystem::path& path);

// Writes everything to an open descriptor; `name` is for the message.
void write_all(int fd, std::string_view bytes, std::string_view name);
