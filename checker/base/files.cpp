// SPDX-License-Identifier: MIT
#include "checker/base/files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

#include "checker/base/file_error.h"

namespace checker {

std::optional<std::string> read_file_if_there(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return std::nullopt;
    }
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

std::string read_file(const std::filesystem::path& path) {
    std::optional<std::string> text = read_file_if_there(path);
    if (!text) {
        throw FileError(path.string() + ": cannot be read; is it there?");
    }
    return *std::move(text);
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::absolute(path).parent_path());
    write_whole(path, text);
}

void write_whole(const std::filesystem::path& file, const std::string& text) {
    const std::filesystem::path temporary = file.string() + fmt::format(".{}.tmp", getpid());
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.close();
    std::error_code error;
    if (!out) {
        std::filesystem::remove(temporary, error);
        throw FileError(fmt::format("{} cannot be written: {}", file.string(), std::strerror(errno)));
    }
    std::filesystem::rename(temporary, file, error);
    if (error) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        throw FileError(fmt::format("{} cannot be written: {}", file.string(), error.message()));
    }
}

FileDescriptor::~FileDescriptor() {
    if (fd_ >= 0) {
        close(fd_);
    }
}

void Unmap::operator()(std::byte* p) const {
    munmap(p, bytes);
}

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string fnv1a64(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U; }
    return fmt::format("{:016x}", hash);
}

Finished run_command(const std::string& command) {
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

std::string quoted(const std::string& argument) {
    std::string text = "'";
    for (const char c : argument) { text += c == '\'' ? std::string("'\\''") : std::string(1, c); }
    return text + "'";
}

}  // namespace checker
