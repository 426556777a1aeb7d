// SPDX-License-Identifier: MIT
#include "lessons/gpt2/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "checker/base/file_error.h"

namespace fs = std::filesystem;
using checker::FileError;

namespace {

[[noreturn]] void fail(std::string_view name, std::string_view what, int reason, std::string_view mend) {
    throw FileError(fmt::format("{}: {}: {}; {}", name, what, std::strerror(reason), mend));
}

// An open file descriptor. Move-only.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() { close(); }
    int get() const { return fd_; }
    int close() { return fd_ < 0 ? 0 : ::close(std::exchange(fd_, -1)); }

  private:
    int fd_;
};

// Holds back the signals that end the program, so that no temporary file stays behind.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t set;
        sigemptyset(&set);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) { sigaddset(&set, signal); }
        sigprocmask(SIG_BLOCK, &set, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

// Returns true if the descriptor is open on the file that the path leads to.
bool is_open_on(int fd, const fs::path& path) {
    struct stat open {
    }, named{};
    return fstat(fd, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

// Returns N for /dev/fd/N.
std::optional<int> numbered_descriptor(const fs::path& path) {
    const std::string name = path.filename().string();
    int fd = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), fd);
    const bool in_folder = path.parent_path() == "/dev/fd" || path.parent_path() == "/proc/self/fd";
    return in_folder && error == std::errc() && end == name.data() + name.size() ? std::optional(fd) : std::nullopt;
}

// Returns what is left of an open file, pipe or device.
std::string read_to_end(int fd, const std::string& name, std::size_t max_bytes) {
    constexpr std::size_t kFirst = 1u << 16;
    struct stat status {};
    const bool has_size = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    std::string bytes(has_size ? static_cast<std::size_t>(status.st_size) + 1 : kFirst, '\0');
    std::size_t length = 0;
    for (;;) {
        const ssize_t n = ::read(fd, bytes.data() + length, bytes.size() - length);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            fail(name, "cannot be read", errno, "check the path and the disk");
        }
        if (n == 0) {
            break;
        }
        length += static_cast<std::size_t>(n);
        if (length > max_bytes) {
            throw FileError(
                fmt::format("{}: is longer than {} bytes, the most that are read here: check that this is "
                            "what you mean",
                            name, max_bytes));
        }
        if (length == bytes.size()) {
            bytes.resize(2 * length);
        }
    }
    bytes.resize(length);
    return bytes;
}

}  // namespace

bool is_standard_output(const fs::path& path) {
    return path == "-" || is_open_on(STDOUT_FILENO, path);
}

std::string read_file(const fs::path& path, std::size_t max_bytes) {
    const std::string name = path.string();
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) {
        fail(name, "cannot be read", errno, "check the path and its permissions");
    }
    struct stat status {};
    if (fstat(file.get(), &status) != 0) {
        fail(name, "cannot be read", errno, "check the path");
    }
    if (S_ISDIR(status.st_mode)) {
        throw FileError(fmt::format("{}: is a folder; name a file", name));
    }
    if (!S_ISREG(status.st_mode)) {
        throw FileError(fmt::format("{}: is not a regular file; name one", name));
    }
    if (static_cast<std::size_t>(status.st_size) > max_bytes) {
        throw FileError(fmt::format("{}: is {} bytes; at most {} are read here: check that this is the file you mean",
                                    name, status.st_size, max_bytes));
    }
    return read_to_end(file.get(), name, max_bytes);
}

std::string read_input(const std::string& path, std::size_t max_bytes) {
    if (path == "-" || path == "/dev/stdin") {  // which, a socket, cannot be opened again
        return read_to_end(STDIN_FILENO, input_name(path), max_bytes);
    }
    std::error_code none;
    const fs::file_type type = fs::status(path, none).type();
    if (type != fs::file_type::fifo && type != fs::file_type::character && type != fs::file_type::socket) {
        return read_file(path, max_bytes);
    }
    const Descriptor stream(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (stream.get() < 0) {
        fail(path, "cannot be read", errno, "check the path and its permissions");
    }
    return read_to_end(stream.get(), path, max_bytes);
}

std::string input_name(const std::string& path) {
    return path == "-" ? "standard input" : path;
}

void write_all(int fd, std::string_view bytes, std::string_view name) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            fail(name, "cannot be written", errno,
                 errno == ENOSPC ? "make room on that disk" : "check where the output goes");
        }
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    // Opened again, a file that was opened for appending would lose what it holds.
    std::optional<int> opened = numbered_descriptor(path);
    if (is_standard_output(path)) {
        opened = STDOUT_FILENO;
    } else if (is_open_on(STDERR_FILENO, path)) {
        opened = STDERR_FILENO;
    }
    if (opened) {
        write_all(*opened, text, path == "-" ? "standard output" : path.string());
        return;
    }
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::directory) {
        throw FileError(fmt::format("{}: is a folder; name a file", path.string()));
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        if (device.get() < 0) {
            fail(path.string(), "cannot be written", errno, "check its permissions");
        }
        write_all(device.get(), text, path.string());
        return;
    }

    // Through a link, the file it points to is replaced, not the link.
    fs::path target = fs::weakly_canonical(path, error);
    if (error || target.empty()) {
        target = path;
    }
    const SignalsBlocked blocked;
    std::string temporary = target.string() + ".XXXXXX";
    Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
    if (file.get() < 0) {
        fail(path.string(), "cannot be written", errno, "check that its folder exists and can be written");
    }
    try {
        const mode_t mask = umask(0);
        umask(mask);
        if (fchmod(file.get(), 0666 & ~mask) != 0) {
            fail(path.string(), "cannot be written", errno, "check the disk");
        }
        write_all(file.get(), text, path.string());
        if (file.close() != 0) {
            fail(path.string(), "cannot be written", errno, "check the disk");
        }
        if (std::rename(temporary.c_str(), target.c_str()) != 0) {
            fail(path.string(), "cannot be written", errno, "check the permissions of its folder");
        }
    } catch (...) {
        ::unlink(temporary.c_str());
        throw;
    }
}
