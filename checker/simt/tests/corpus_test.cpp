// SPDX-License-Identifier: MIT
//
// Each kernel under kernels/ gets the verdict that its first lines name, whatever the order of blocks and warps.
#include "checker/simt/tests/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;

// SIMT_TEST_SEEDS of them, 5 without it.
int seeds() {
    const char* wanted = std::getenv("SIMT_TEST_SEEDS");
    return wanted == nullptr ? 5 : std::atoi(wanted);
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, GetsTheVerdictThatItsFirstLinesName) {
    const corpus::Verdict verdict = corpus::expected(GetParam());
    for (int seed = 1; seed <= corpus::seeds_for(verdict, seeds()); seed++) {
        const corpus::Outcome result = corpus::run(GetParam(), seed);
        ASSERT_EQ(result.verdict, verdict) << "SIMT_SEED=" << seed;
        ASSERT_EQ(result.status, verdict.empty() ? 0 : 1) << "SIMT_SEED=" << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Corpus, testing::ValuesIn(corpus::kernels()),
                         [](const testing::TestParamInfo<std::string>& kernel) {
                             std::string name = kernel.param;
                             std::replace(name.begin(), name.end(), '/', '_');
                             return name;
                         });

// Whose time is a new one where a file in it is made, renamed or removed.
TEST(Programs, LeaveTheirFolderAsItWas) {
    const std::string kernel = corpus::kernels().front();
    const fs::path folder = fs::path("build/tests/simt/kernels") / fs::path(kernel).parent_path();
    const fs::file_time_type before = fs::last_write_time(folder);
    ASSERT_NE(corpus::run(kernel, 1).verdict, corpus::Verdict{"no report"});
    EXPECT_EQ(fs::last_write_time(folder), before);
}

TEST(TableInTheReadme, SaysWhatTheCorpusSays) {
    std::ifstream in(corpus::kReadme);
    const std::string readme(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(corpus::table_in(readme),
              corpus::text_of(corpus::expected_table(corpus::kTableSeeds), corpus::kTableSeeds))
        << "make simt-table writes it";
}

TEST(TableInTheReadme, IsReplacedBetweenItsMarkers) {
    const std::string readme = "before\n<!-- make simt-table -->\nold\n<!-- end -->\nafter\n";
    const std::string replaced = corpus::with_table(readme, "new\nrows\n");
    EXPECT_EQ(replaced, "before\n<!-- make simt-table -->\nnew\nrows\n<!-- end -->\nafter\n");
    EXPECT_EQ(corpus::table_in(replaced), "new\nrows\n");
    EXPECT_THROW(corpus::table_in("no markers"), std::runtime_error);
}

}  // namespace
