// SPDX-License-Identifier: MIT
#include "checker/estimate/marks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checker/base/files.h"
#include "checker/estimate/sass.h"

using namespace checker;
using namespace checker::estimate;

namespace {
EmittedAccess at(int line, Kind kind, double bytes, double count) {
    return {.file = "", .line = line, .kind = kind, .is_async_copy = false, .bytes = bytes, .count = count};
}

std::map<MarkedLine, std::string> marks(const std::vector<SourceAccess>& source, std::vector<EmittedAccess> accesses) {
    Region region;
    region.accesses = std::move(accesses);
    KernelSass kernel;
    kernel.source = "k.cu";
    kernel.regions = {region};
    return marks_of(source, kernel, "k.cu");
}

TEST(Marks, AreNoneWhereNvccDoesWhatTheSourceSays) {
    EXPECT_TRUE(marks({{7, Kind::global_load, 4}}, {at(7, Kind::global_load, 4, 4)}).empty());
}

TEST(Marks, SayHowManyWideLoadsScalarOnesHaveBecome) {
    const auto found =
        marks({{7, Kind::shared_load, 4}}, {at(7, Kind::shared_load, 16, 8), at(7, Kind::shared_load, 4, 32)});
    EXPECT_EQ(found.at({7, Kind::shared_load}), "8 loads of 16 bytes for 32 of 4");
}

TEST(Marks, SayWhereAWideStoreIsSplit) {
    const auto found = marks({{7, Kind::global_store, 16}}, {at(7, Kind::global_store, 4, 4)});
    EXPECT_EQ(found.at({7, Kind::global_store}), "4 stores of 4 bytes for 1 of 16");
}

TEST(Marks, NameTheLineThatAMergedOneWentTo) {
    const auto found = marks({{7, Kind::global_load, 4}, {8, Kind::global_load, 4}}, {at(7, Kind::global_load, 16, 1)});
    EXPECT_EQ(found.at({8, Kind::global_load}), "with line 7");
}

TEST(Marks, SayWhereALoadIsNotEmitted) {
    const auto found =
        marks({{7, Kind::global_load, 4}, {20, Kind::global_load, 4}}, {at(20, Kind::global_load, 4, 1)});
    EXPECT_EQ(found.at({7, Kind::global_load}), "none");
    EXPECT_EQ(found.size(), 1U);
}

TEST(Marks, TakeALineOfTheSameStatementForTheSame) {
    EXPECT_TRUE(marks({{116, Kind::global_store, 16}}, {at(115, Kind::global_store, 16, 8)}).empty());
}

TEST(Marks, LeaveOpenWhatMayBeAtALineThatTheSourceHasNothingAt) {
    EXPECT_TRUE(marks({{7, Kind::global_load, 4}}, {at(90, Kind::global_load, 4, 1)}).empty());
}

TEST(Marks, CountACopyIntoSharedMemoryAsALoadAndAStore) {
    EmittedAccess copy = at(7, Kind::global_load, 16, 1);
    copy.is_async_copy = true;
    EXPECT_TRUE(marks({{7, Kind::global_load, 16}, {7, Kind::shared_store, 16}}, {copy}).empty());
}

// ---- what is recorded ------------------------------------------------------------------------------------------------

TEST(Sass, IsFreshAsLongAsNoByteOfItsFilesHasChanged) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "fresh.cu";
    SassFile file;
    file.hashed = {path};
    file.digest = "85944171f73967e8";  // of the algorithm's own test vectors
    write_file(path, "foobar");
    EXPECT_TRUE(is_fresh(file));
    write_file(path, "foobaz");
    EXPECT_FALSE(is_fresh(file));
    std::filesystem::remove(path);
    EXPECT_FALSE(is_fresh(file));
}

TEST(Sass, OfASolutionIsRecorded) {
    const std::vector<SassFile> files = sass_of("solutions/09_warp_tiled_matmul/matmul.cu");
    ASSERT_FALSE(files.empty());
    ASSERT_FALSE(files.front().kernels.empty());
    EXPECT_EQ(files.front().kernels.front().kernel, "matmul_forward_kernel [bool kVectors = false]");
}

TEST(Sass, OfAnUnknownFileIsNone) {
    EXPECT_TRUE(sass_of("lessons/99_unknown/matmul.cu").empty());
}

}  // namespace
