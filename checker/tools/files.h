// SPDX-License-Identifier: MIT
//
// What the tools need of the file system and of other programs.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "checker/file_error.h"
#include "checker/report.h"

namespace checker {

inline std::optional<std::string> read_file_if_there(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return std::nullopt;
    }
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

inline std::string read_file(const std::filesystem::path& path) {
    std::optional<std::string> text = read_file_if_there(path);
    if (!text) {
        throw FileError(path.string() + ": cannot be read; is it there?");
    }
    return *std::move(text);
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::absolute(path).parent_path());
    write_whole(path, text);
}

struct Finished {
    int status = 0;      // exit status, or 128 + the signal
    std::string output;  // standard output; and standard error where the command says 2>&1
};

inline Finished run_command(const std::string& command) {
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) {
        throw std::runtime_error("cannot start: " + command);
    }
    Finished finished;
    char buffer[4096];
    for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) { finished.output.append(buffer, n); }
    const int status = pclose(pipe);
    finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return finished;
}

// One argument of a shell command, whatever it contains.
inline std::string quoted(const std::string& argument) {
    std::string text = "'";
    for (const char c : argument) { text += c == '\'' ? std::string("'\\''") : std::string(1, c); }
    return text + "'";
}

}  // namespace checker
