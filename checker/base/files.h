// SPDX-License-Identifier: MIT
//
// What the checker and its tools need of the file system and of other programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace checker {

std::optional<std::string> read_file_if_there(const std::filesystem::path& path);
std::string read_file(const std::filesystem::path& path);  // throws FileError

// Writes a file under a temporary name and renames it, so that nothing half-written stays. Throws FileError.
void write_whole(const std::filesystem::path& file, const std::string& text);
// The same; makes the folder as well.
void write_file(const std::filesystem::path& path, const std::string& text);

// Closed at the end of its scope; below 0 there is none.
class FileDescriptor {
  public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~FileDescriptor();
    int get() const { return fd_; }

  private:
    int fd_;
};

// What mmap gave.
struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* p) const;
};
using MappedBytes = std::unique_ptr<std::byte, Unmap>;

std::string utc_now();  // "2026-01-31T12:00:00Z"

std::string fnv1a64(std::string_view text);  // 16 hexadecimal digits

struct Finished {
    int status = 0;      // exit status, or 128 + the signal
    std::string output;  // standard output; and standard error where the command says 2>&1
};
Finished run_command(const std::string& command);

// One argument of a shell command, whatever it contains.
std::string quoted(const std::string& argument);

}  // namespace checker
