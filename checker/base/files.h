// SPDX-License-Identifier: MIT
//
// What the checker and its tools need of the file system and of other programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace checker {

std::optional<std::string> read_file_if_there(const std::filesystem::path& path);
std::string read_file(const std::filesystem::path& path);  // throws FileError

// Writes a file under a temporary name and renames it, so that nothing half-written stays. Throws FileError.
void write_whole(const std::filesystem::path& file, const std::string& text);
// The same; makes the folder as well.
void write_file(const std::filesystem::path& path, const std::string& text);

std::string utc_now();  // "2026-01-31T12:00:00Z"

// Identifies a text, so that a reader of results knows whether one is about the file as it is; empty without the file.
std::string fnv1a64(const std::filesystem::path& file);

struct Finished {
    int status = 0;      // exit status, or 128 + the signal
    std::string output;  // standard output; and standard error where the command says 2>&1
};
Finished run_command(const std::string& command);

// One argument of a shell command, whatever it contains.
std::string quoted(const std::string& argument);

}  // namespace checker
