// SPDX-License-Identifier: MIT
#include "lessons/gpt2/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>

#include "lessons/gpt2/tests/support.h"

namespace fs = std::filesystem;

namespace {

std::span<const std::byte> as_bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

long entries(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), {});
}

}  // namespace

TEST(ReadFile, GivesAllBytes) {
    const TemporaryFolder folder;
    const std::string text("a\0b\n\xff", 5);
    write_text(folder / "x", text);
    EXPECT_EQ(read_file(folder / "x", 5), text);
}

TEST(ReadFile, RefusesWhatIsTooLongMissingOrNoFile) {
    const TemporaryFolder folder;
    write_text(folder / "x", "123456");
    EXPECT_TRUE(contains(message_of([&] { read_file(folder / "x", 5); }), "is 6 bytes; at most 5"));
    EXPECT_TRUE(contains(message_of([&] { read_file(folder / "y", 5); }), "No such file"));
    EXPECT_TRUE(contains(message_of([&] { read_file(folder.path(), 5); }), "is a folder"));
    EXPECT_TRUE(contains(message_of([&] { read_file("/dev/zero", 5); }), "not a regular file"));
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_TRUE(contains(message_of([&] { read_file(folder / "pipe", 5); }), "not a regular file"));
}

TEST(ReadInput, ReadsPipesAndFilesWithoutASizeUpToTheLimit) {
    const TemporaryFolder folder;
    write_text(folder / "x", "12345");
    EXPECT_EQ(read_input((folder / "x").string(), 5), "12345");
    EXPECT_TRUE(contains(message_of([&] { read_input((folder / "x").string(), 4); }), "is 5 bytes; at most 4"));
    EXPECT_TRUE(contains(message_of([&] { read_input(folder.path().string(), 4); }), "is a folder"));
    EXPECT_TRUE(contains(message_of([&] { read_input("/dev/zero", 1 << 20); }), "is longer than 1048576 bytes"));
    EXPECT_EQ(read_input("/dev/null", 5), "");
    EXPECT_FALSE(read_input("/proc/self/status", 1 << 20).empty());

    const std::string long_text(200'000, 'a');  // longer than what a pipe holds
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    std::thread writer([&] { write_text(folder / "pipe", long_text); });
    EXPECT_EQ(read_input((folder / "pipe").string(), long_text.size()), long_text);
    writer.join();
}

TEST(WriteFile, ReplacesAFileAndLeavesNothingElse) {
    const TemporaryFolder folder;
    write_text(folder / "x", "a longer old text");
    write_file(folder / "x", as_bytes("new"));
    EXPECT_EQ(read_text(folder / "x"), "new");
    EXPECT_EQ(entries(folder.path()), 1);
}

TEST(WriteFile, GivesTheFileTheUsualPermissions) {
    const TemporaryFolder folder;
    write_file(folder / "x", as_bytes("new"));
    write_text(folder / "y", "as the standard library does");
    EXPECT_EQ(fs::status(folder / "x").permissions(), fs::status(folder / "y").permissions());
}

TEST(WriteFile, FollowsALinkInsteadOfReplacingIt) {
    const TemporaryFolder folder;
    write_text(folder / "target", "old");
    fs::create_symlink(folder / "target", folder / "link");
    write_file(folder / "link", as_bytes("new"));
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_EQ(read_text(folder / "target"), "new");
}

TEST(WriteFile, RefusesAFolderAndAMissingFolder) {
    const TemporaryFolder folder;
    EXPECT_TRUE(contains(message_of([&] { write_file(folder.path(), as_bytes("x")); }), "is a folder"));
    EXPECT_TRUE(contains(message_of([&] { write_file(folder / "none" / "x", as_bytes("x")); }), "No such file"));
    EXPECT_EQ(entries(folder.path()), 0);
}

TEST(WriteFile, WritesToADeviceAndLeavesItADevice) {
    write_file("/dev/null", as_bytes("x"));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    const std::string message = message_of([] { write_file("/dev/full", as_bytes("x")); });
    EXPECT_EQ(message, "/dev/full: cannot be written: No space left on device; make room on that disk");
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(WriteFile, LeavesTheOldFileWhenTheDiskIsFull) {
    // A limit on the size of files stands in for a full disk.
    const TemporaryFolder folder;
    write_text(folder / "x", "old");
    struct rlimit before {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit { .rlim_cur = 4096, .rlim_max = before.rlim_max };
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = message_of([&] { write_file(folder / "x", as_bytes(std::string(10000, 'a'))); });
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);

    EXPECT_TRUE(contains(message, "x: cannot be written: File too large")) << message;
    EXPECT_EQ(read_text(folder / "x"), "old");
    EXPECT_EQ(entries(folder.path()), 1);
}

TEST(WriteAll, SaysWhichOutputFailed) {
    const int fd = open("/dev/full", O_WRONLY);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(message_of([&] { write_all(fd, "x", "standard output"); }),
              "standard output: cannot be written: No space left on device; make room on that disk");
    close(fd);
}
