// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "checker/fuzz/targets.h"

namespace {

// Runs every committed input; a bug ends the process or throws. Returns how many there were.
std::size_t replay(const std::filesystem::path& folder, void (*target)(std::span<const std::byte>)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) { files.push_back(entry.path()); }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& path : files) {
        SCOPED_TRACE(path.string());
        std::ifstream file(path, std::ios::binary);
        const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        EXPECT_NO_THROW(target(std::as_bytes(std::span(content))));
    }
    return files.size();
}

TEST(FuzzCorpus, TheSafetensorsReaderSurvivesEveryCommittedInput) {
    EXPECT_GE(replay("checker/fuzz/corpus/safetensors", fuzz_safetensors), 20U);
}

TEST(FuzzCorpus, TheConfigReaderSurvivesEveryCommittedInput) {
    EXPECT_GE(replay("checker/fuzz/corpus/config", fuzz_config), 20U);
}

}  // namespace
