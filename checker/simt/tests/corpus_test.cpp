// SPDX-License-Identifier: MIT
//
// Each kernel under kernels/ gets the verdict that its first lines name, whatever the order of blocks and warps.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSources = "checker/simt/tests/kernels";
const fs::path kPrograms = "build/tests/simt/kernels";

// SIMT_TEST_SEEDS of them, 5 without it; a change to the runtime is tried with 20.
int seeds() {
    const char* wanted = std::getenv("SIMT_TEST_SEEDS");
    return wanted == nullptr ? 5 : std::atoi(wanted);
}

using Verdict = std::multiset<std::string>;  // "out_of_bounds global kernel.cu:17"; empty: correct

// What the file's lines `// verdict: …` say.
Verdict expected(const fs::path& source) {
    Verdict verdict;
    bool any = false;
    std::ifstream in(source);
    for (std::string line; std::getline(in, line) && line.starts_with("//");) {
        constexpr std::string_view kMark = "// verdict: ";
        if (line.starts_with(kMark)) {
            any = true;
            if (const std::string text = line.substr(kMark.size()); text != "correct") {
                verdict.insert(text);
            }
        }
    }
    EXPECT_TRUE(any) << source << " names no verdict";
    return verdict;
}

struct Outcome {
    int status = -1;
    Verdict verdict;
};

Outcome run(const fs::path& program, int seed) {
    const fs::path report = program.string() + ".json";
    const fs::path output = program.string() + ".out";
    fs::remove(report);
    const int status = std::system(fmt::format("SIMT_SEED={} SIMT_REPORT={} SIMT_TIME_LIMIT=2 {} >{} 2>&1", seed,
                                               report.string(), program.string(), output.string())
                                       .c_str());
    Outcome result{.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .verdict = {}};
    std::ifstream in(report);
    const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
    if (json.is_discarded()) {
        result.verdict.insert("no report");
        return result;
    }
    for (const nlohmann::json& finding : json["findings"]) {
        const std::string space = finding["space"];
        result.verdict.insert(fmt::format("{}{}{} {}:{}", std::string(finding["kind"]), space.empty() ? "" : " ", space,
                                          fs::path(std::string(finding["file"])).filename().string(),
                                          int(finding["line"])));
    }
    return result;
}

std::vector<std::string> kernels() {
    std::vector<std::string> names;
    for (const char* folder : {"buggy", "correct"}) {
        for (const fs::directory_entry& file : fs::directory_iterator(kSources / folder)) {
            if (file.path().extension() == ".cu") {
                names.push_back(fmt::format("{}/{}", folder, file.path().stem().string()));
            }
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, GetsTheVerdictThatItsFirstLinesName) {
    const Verdict verdict = expected(kSources / (GetParam() + ".cu"));
    // An endless loop takes the time limit in every seed; its order of threads changes nothing.
    const bool endless = !verdict.empty() && verdict.begin()->starts_with("spin");
    for (int seed = 1; seed <= (endless ? 1 : seeds()); seed++) {
        const Outcome result = run(kPrograms / GetParam(), seed);
        ASSERT_EQ(result.verdict, verdict) << "SIMT_SEED=" << seed;
        ASSERT_EQ(result.status, verdict.empty() ? 0 : 1) << "SIMT_SEED=" << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Corpus, testing::ValuesIn(kernels()),
                         [](const testing::TestParamInfo<std::string>& kernel) {
                             std::string name = kernel.param;
                             std::replace(name.begin(), name.end(), '/', '_');
                             return name;
                         });

}  // namespace
