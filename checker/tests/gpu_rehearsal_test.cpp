// SPDX-License-Identifier: MIT
//
// The GPU's side of the checker where no GPU is: its programs with the CPU device, unchecked, in the card's place.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checker/base/files.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Checked {
    checker::Finished finished;
    json verdict;
};

Checked check(const std::string& lesson, const std::string& options) {
    const std::string file = "build/dry/" + lesson + ".verdict.json";
    fs::remove(file);
    const std::string impl = "build/dry/impl/solutions/" + lesson;
    Checked checked;
    checked.finished =
        checker::run_command("build/dry/check/lesson" + lesson.substr(0, 2) + " --subject solutions --impl-dir " +
                             impl + " --reference-dir " + impl + " --json " + file + " " + options + " 2>&1");
    checked.verdict = json::parse(checker::read_file_if_there(file).value_or("{}"));
    return checked;
}

class DeviceLesson : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, DeviceLesson,
                         testing::Values("04_first_kernel", "05_naive_forward", "06_coalescing",
                                         "08_register_tiled_matmul"),
                         [](const auto& name) { return name.param; });

TEST_P(DeviceLesson, SolutionIsRightThereAndEveryOpHasTimesThatNobodyJudges) {
    const auto [finished, verdict] = check(GetParam(), "");
    ASSERT_EQ(finished.status, 0) << finished.output;
    EXPECT_TRUE(verdict.at("rehearsal"));
    for (const json& op : verdict.at("ops")) {
        EXPECT_EQ(op.at("verdict"), "no verdict") << op.dump(2);
        ASSERT_TRUE(op.contains("timing")) << op.dump(2);
        const json& shape = op.at("timing").at("shapes").at(0);
        EXPECT_GT(shape.at("median_ms").get<double>(), 0);
        EXPECT_GE(shape.at("samples").get<int>(), 6);
        EXPECT_TRUE(shape.at("of_speed_of").contains("solution"));
    }
    EXPECT_NE(finished.output.find("a rehearsal"), std::string::npos) << finished.output;
}

TEST(GpuRehearsal, TimesTheCopyOfAsManyBytesAndTheMultiplyAdds) {
    const json residual = check("04_first_kernel", "--only residual/timing").verdict.at("ops").at(0);
    const json& copied = residual.at("timing").at("shapes").at(0);
    EXPECT_GT(copied.at("of_speed_of").at("copy").at("share").get<double>(), 0);
    const json matmul = check("05_naive_forward", "--only matmul/timing").verdict.at("ops").at(0);
    const json& multiplied = matmul.at("timing").at("shapes").at(0);
    EXPECT_GT(multiplied.at("of_speed_of").at("arithmetic").at("share").get<double>(), 0);
    EXPECT_GT(multiplied.at("flop_per_s").get<double>(), 0);
}

TEST(GpuRehearsal, SaysThatALibraryIsNotThereAndGoesOn) {
    const checker::Finished finished = checker::run_command(
        "SOL_CUBLAS=/nowhere/libcublas.so build/dry/check/lesson05 --subject solutions --impl-dir "
        "build/dry/impl/solutions/05_naive_forward --reference-dir build/dry/impl/solutions/05_naive_forward "
        "--only matmul --timing-only 2>&1");
    EXPECT_EQ(finished.status, 0);
    EXPECT_NE(finished.output.find("cuBLAS is not timed: /nowhere/libcublas.so"), std::string::npos) << finished.output;
}

// What guard bands, poison and the runtime's own errors show, without the CPU device's checks.
class WrongSolution : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, WrongSolution,
                         testing::Values("04_first_kernel.tail_overrun",       // behind an output
                                         "04_first_kernel.adds_in_place",      // in an input
                                         "04_first_kernel.nobody_looked",      // a launch that was refused
                                         "05_naive_forward.scratch_overrun",   // behind scratch
                                         "05_naive_forward.own_score_missing"  // reads what nobody wrote
                                         ));

TEST_P(WrongSolution, IsRejectedForItsReasonWithoutTheCpuDevicesChecks) {
    const std::string file = "build/dry/wrong.json";
    fs::remove(file);
    const checker::Finished finished =
        checker::run_command(std::string("build/tools/wrong --device gpu --dry --json ") + file +
                             " --gtest_filter=WrongSolutions_" + GetParam() + " 2>&1");
    ASSERT_EQ(finished.status, 0) << finished.output;
    const json rows = json::parse(checker::read_file(file));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows[0].at("rejected")) << finished.output;
    EXPECT_TRUE(rows[0].at("as_expected")) << rows[0].dump(2);
}

TEST(GpuRehearsal, GivesAReportThatSaysWhatItIs) {
    const std::string file = "build/dry/test-report.json";
    fs::remove(file);
    const checker::Finished finished =
        checker::run_command("make gpu-report DRY=1 PART=timings REPORT=" + file + " 2>&1");
    ASSERT_EQ(finished.status, 0) << finished.output;
    EXPECT_EQ(finished.output.find("rehearsal without a GPU: nothing in it is a measurement"), 0U) << finished.output;
    const json report = json::parse(checker::read_file(file));
    const json& items = report.at("parts").at("timings").at("items");
    EXPECT_GE(items.size(), 10U) << "an item for each op of each lesson with kernels";
    for (const auto& [name, item] : items.items()) { EXPECT_EQ(item.at("status"), "ok") << name; }
}

// What `make tune-lesson09 SOLUTION=1 DRY=1` leaves: a copy of tiles.h with a row for the CPU device.
const std::string kTiles = "lessons/09_warp_tiled_matmul/tiles.h", kTunedCopy = "build/tune/tiles.h";
std::size_t rows_in(const std::string& tiles) {
    const std::string text = checker::read_file(tiles);
    std::size_t rows = 0;
    for (std::size_t at = text.find("{{90, 1},"); at != std::string::npos; at = text.find("{{90, 1},", at + 1)) {
        rows++;
    }
    return rows;
}

TEST(Tuner, FindsEveryTileRightAndStoresNothingWithoutAGpu) {
    const std::string before = checker::read_file(kTiles);
    const checker::Finished finished = checker::run_command("make tune-lesson09 SOLUTION=1 DEVICE=cpu 2>&1");
    ASSERT_EQ(finished.status, 0) << finished.output;
    std::size_t right = 0;
    for (std::size_t at = finished.output.find("  right"); at != std::string::npos;
         at = finished.output.find("  right", at + 1)) {
        right++;
    }
    EXPECT_EQ(right, 5U) << finished.output;
    EXPECT_NE(finished.output.find("TFLOP/s: not measured yet"), std::string::npos) << finished.output;
    EXPECT_EQ(checker::read_file(kTiles), before);
}

TEST(Tuner, RehearsesOnACopyOfItsTableAndReplacesTheRowOfACardThatItHasMeasuredBefore) {
    const std::string before = checker::read_file(kTiles);
    const checker::Finished finished = checker::run_command("make tune-lesson09 SOLUTION=1 DRY=1 2>&1");
    ASSERT_EQ(finished.status, 0) << finished.output;
    EXPECT_NE(finished.output.find("no number below is a measurement"), std::string::npos) << finished.output;
    EXPECT_EQ(checker::read_file(kTiles), before);
    EXPECT_EQ(rows_in(kTunedCopy), 1U);
    const checker::Finished again =
        checker::run_command("build/tune/cpu/solutions/lesson09 " + kTunedCopy + " --rehearse 2>&1");
    ASSERT_EQ(again.status, 0) << again.output;
    EXPECT_EQ(rows_in(kTunedCopy), 1U);
}

TEST(Tuner, LeavesItsTableAsItWasWhereItCannotWriteTheNewOne) {
    ASSERT_EQ(checker::run_command("make tune-lesson09 SOLUTION=1 DRY=1 2>&1").status, 0);
    const std::string before = checker::read_file(kTunedCopy), beside = kTunedCopy + ".new";
    EXPECT_FALSE(fs::exists(beside));
    fs::create_directory(beside);
    const checker::Finished again =
        checker::run_command("build/tune/cpu/solutions/lesson09 " + kTunedCopy + " --rehearse 2>&1");
    fs::remove(beside);
    EXPECT_EQ(again.status, 1) << again.output;
    EXPECT_NE(again.output.find("tune: " + beside + " cannot be written; " + kTunedCopy + " is as it was\n"),
              std::string::npos)
        << again.output;
    EXPECT_EQ(checker::read_file(kTunedCopy), before);
}

TEST(GpuBuild, RefusesInOneLineThatSaysWhatIsThere) {
    const struct {
        const char *command, *says;
    } rows[] = {
        {"make check-lesson04 DEVICE=foo", "DEVICE=foo: it is cpu (the CPU device) or gpu"},
        {"make time-lesson04 DEVICE=cpu", "the CPU device has no times"},
        {"make check-lesson04 DRY=1", "it goes with DEVICE=gpu"},
        {"make gpt2 STEP=05 DEVICE=foo", "DEVICE=foo: it is cpu (the CPU device) or gpu"},
    };
    for (const auto& row : rows) {
        const checker::Finished refused = checker::run_command(std::string(row.command) + " 2>&1");
        EXPECT_EQ(refused.status, 2) << row.command;
        EXPECT_NE(refused.output.find(row.says), std::string::npos) << refused.output;
        EXPECT_EQ(std::ranges::count(refused.output, '\n'), 1) << refused.output;
    }
}

TEST(GpuBuild, SaysWithoutADriverThatTheCpuDeviceIsThere) {
    const checker::Finished finished =
        checker::run_command("SOL_LIBCUDA=/nowhere/libcuda.so make check-lesson04 SOLUTION=1 DEVICE=gpu 2>&1");
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.output.find("no NVIDIA driver: /nowhere/libcuda.so cannot be opened"), 0U) << finished.output;
    EXPECT_NE(finished.output.find("DEVICE=cpu"), std::string::npos) << finished.output;
}

}  // namespace
