// SPDX-License-Identifier: MIT
//
// Verdicts that need not be taken again. A verdict is kept in a file beside what it is about, with a key that has the
// content of everything that it comes from: where any of it changes, so does the key, and the verdict is forgotten.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace checker {

// 128 bits: two FNV-1a hashes with different beginnings. Names count too, and so does that a file is not there.
class Key {
  public:
    void text(std::string_view text);
    void file(const std::filesystem::path& path);
    void lasting_file(const std::filesystem::path& path);  // one that does not change while this process runs
    void words(const std::string& list);                   // of a command line: each a lasting file or a word
    void folder(const std::filesystem::path& path);        // its lasting files, at any depth
    void depfile(const std::filesystem::path& path);       // and the files that it names, written by a compiler
    std::string value() const;

  private:
    std::uint64_t first_ = 0xCBF29CE484222325U, second_ = 0x84222325CBF29CE4U;
};

// What was kept in `stamp` under this key, if anything was; nothing with SOL_FRESH=1 in the environment.
std::optional<std::string> kept(const std::filesystem::path& stamp, const std::string& key);
void keep(const std::filesystem::path& stamp, const std::string& key, const std::string& verdict);

}  // namespace checker
