// SPDX-License-Identifier: MIT
#include "checker/base/kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "checker/base/files.h"

namespace checker {
namespace {

namespace fs = std::filesystem;

std::string digest_of(const fs::path& path) {
    const std::optional<std::string> content = read_file_if_there(path);
    Key key;
    key.text(content.value_or(""));
    return content ? key.value() : "is not there";
}

// Of a file that does not change while this process runs: it is read once.
std::string lasting_digest_of(const fs::path& path) {
    static std::mutex mutex;
    static std::map<fs::path, std::string> known;
    const std::scoped_lock lock(mutex);
    const auto found = known.find(path);
    return found != known.end() ? found->second : known.emplace(path, digest_of(path)).first->second;
}

}  // namespace

void Key::text(std::string_view text) {
    const auto take = [this](unsigned char byte) {
        first_ = (first_ ^ byte) * 0x100000001B3U;
        second_ = (second_ ^ byte) * 0x100000001B3U;
    };
    for (std::size_t size = text.size(), i = 0; i < sizeof size; i++) { take((size >> (8 * i)) & 0xFFU); }
    for (const char c : text) { take(static_cast<unsigned char>(c)); }
}

void Key::file(const fs::path& path) {
    text(path.string());
    text(digest_of(path));
}

void Key::lasting_file(const fs::path& path) {
    text(path.string());
    text(lasting_digest_of(path));
}

void Key::words(const std::string& list) {
    std::istringstream in(list);
    for (std::string word; in >> word;) { lasting_file(word); }
}

void Key::folder(const fs::path& path) {
    std::vector<fs::path> files;
    std::error_code error;  // without the folder there are no files in it
    for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) { lasting_file(file); }
}

void Key::depfile(const fs::path& path) {
    file(path);
    std::istringstream in(read_file_if_there(path).value_or(""));
    for (std::string word; in >> word;) {
        if (!word.ends_with(':') && word != "\\") {
            file(word);
        }
    }
}

std::string Key::value() const {
    return fmt::format("{:016x}{:016x}", first_, second_);
}

std::optional<std::string> kept(const fs::path& stamp, const std::string& key) {
    const char* fresh = std::getenv("SOL_FRESH");
    const std::optional<std::string> content =
        fresh == nullptr || *fresh == '\0' ? read_file_if_there(stamp) : std::nullopt;
    if (!content || !content->starts_with(key + "\n")) {
        return std::nullopt;
    }
    return content->substr(key.size() + 1);
}

void keep(const fs::path& stamp, const std::string& key, const std::string& verdict) {
    write_whole(stamp, key + '\n' + verdict);
}

}  // namespace checker
