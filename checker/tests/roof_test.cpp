// SPDX-License-Identifier: MIT
#include "checker/clock/roof.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "checker/base/file_error.h"
#include "checker/clock/roof_file.h"
#include "checker/clock/roof_kernels.h"

using namespace checker;

namespace {

Roof example() {
    Roof roof;
    roof.cpu = {.name = "Example CPU",
                .cores = 4,
                .lanes = 8,
                .copy_one = 1e10,
                .copy_all = 2e10,
                .fma_one = 1e11,
                .fma_all = 4e11,
                .two_processes = 1.9};
    roof.measured_at = "2026-01-31T12:00:00Z";
    return roof;
}

// Ends the process: 7 when saving was refused with a FileError.
[[noreturn]] void save_without_disk(const std::filesystem::path& path) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    try {
        save_roof(example(), path);
    } catch (const FileError&) { _exit(7); }
    _exit(0);
}

class RoofFile : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string text() const {
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("roof_test." + std::to_string(getpid()));
    std::filesystem::path path_ = folder_ / "roof.json";
    std::string why_;
};

TEST_F(RoofFile, HoldsWhatWasSaved) {
    save_roof(example(), path_);
    const std::optional<Roof> roof = load_roof(path_, "Example CPU", why_);
    ASSERT_TRUE(roof) << why_;
    EXPECT_EQ(roof->cpu.cores, 4);
    EXPECT_EQ(roof->cpu.fma_all, 4e11);
    EXPECT_EQ(roof->cpu.two_processes, 1.9);
    EXPECT_EQ(roof->measured_at, "2026-01-31T12:00:00Z");
    EXPECT_TRUE(roof->gpu.empty());
}

TEST_F(RoofFile, HoldsWhatWasSavedOfAGpu) {
    Roof roof = example();
    roof.gpu = R"({"name":"Example GPU"})";
    save_roof(roof, path_);
    const std::optional<Roof> loaded = load_roof(path_, "Example CPU", why_);
    ASSERT_TRUE(loaded) << why_;
    EXPECT_EQ(loaded->gpu, roof.gpu);
}

TEST_F(RoofFile, OfAnotherMachineIsNotTaken) {
    save_roof(example(), path_);
    EXPECT_FALSE(load_roof(path_, "Other CPU", why_));
    EXPECT_NE(why_.find("Example CPU"), std::string::npos) << why_;
    EXPECT_NE(why_.find("make calibrate"), std::string::npos) << why_;
}

TEST_F(RoofFile, ThatIsMissingSaysWhatToType) {
    EXPECT_FALSE(load_roof(path_, "Example CPU", why_));
    EXPECT_NE(why_.find("make calibrate"), std::string::npos) << why_;
}

TEST_F(RoofFile, ThatIsCutOffIsRefused) {
    save_roof(example(), path_);
    const std::string whole = text();
    std::ofstream(path_) << whole.substr(0, whole.size() / 2);
    EXPECT_FALSE(load_roof(path_, "Example CPU", why_));
    EXPECT_NE(why_.find("cannot be read"), std::string::npos) << why_;
}

TEST_F(RoofFile, WithARateOfZeroIsRefused) {
    Roof roof = example();
    roof.cpu.copy_one = 0;
    save_roof(roof, path_);
    EXPECT_FALSE(load_roof(path_, "Example CPU", why_));
    EXPECT_NE(why_.find("copy_one"), std::string::npos) << why_;
}

TEST_F(RoofFile, StaysAsItWasWhenTheDiskIsFull) {
    save_roof(example(), path_);
    const std::string before = text();
    EXPECT_EXIT(save_without_disk(path_), testing::ExitedWithCode(7), "");
    EXPECT_EQ(text(), before);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST(KeepBest, ARateThatWasReachedOnceStays) {
    const CpuRoof earlier = example().cpu;
    CpuRoof busy = earlier;
    busy.copy_one *= 0.97;
    busy.copy_all *= 1.03;
    busy.fma_one *= 0.3;
    busy.fma_all *= 0.2;
    busy.two_processes = 1.0;
    EXPECT_EQ(keep_best(busy, earlier), "multiply-adds on one core, multiply-adds on all cores, work of two processes");
    EXPECT_EQ(busy.fma_one, earlier.fma_one);
    EXPECT_EQ(busy.copy_one, earlier.copy_one);
    EXPECT_EQ(busy.copy_all, 1.03 * earlier.copy_all);
}

TEST(KeepBest, AnotherProcessorsRateDoesNot) {
    CpuRoof now = example().cpu;
    now.lanes = 16;
    now.fma_one *= 0.3;
    const CpuRoof before = now, earlier = example().cpu;
    EXPECT_EQ(keep_best(now, earlier), "");
    EXPECT_EQ(now.fma_one, before.fma_one);
}

TEST(Roof, CoresAddUpOnlyWhereTwoProcessesDoTwiceTheWork) {
    CpuRoof cpu = example().cpu;
    EXPECT_TRUE(cores_scale(cpu));
    cpu.two_processes = 1.1;
    EXPECT_FALSE(cores_scale(cpu));
    cpu.two_processes = 1.9;
    cpu.cores = 1;
    EXPECT_FALSE(cores_scale(cpu));
}

TEST(Roof, CountsTwoFlopsForEachLaneOfEachMultiplyAdd) {
    float sink = 0;
    const double once = run_fma(1000, sink);
    EXPECT_EQ(run_fma(3000, sink), 3 * once);
    EXPECT_EQ(std::fmod(once, 2.0 * vector_lanes() * 1000), 0.0);
    // Chain i starts at i and tends to 1: the sum shows that every multiply-add was done.
    double expected = 0;
    for (int i = 0; i < once / (2.0 * vector_lanes() * 1000); i++) {
        expected += vector_lanes() * (1 + (i - 1) * std::pow(0.999, 3000));
    }
    EXPECT_NEAR(sink, expected, 1e-3 * expected);
}

TEST(Roof, OneCoreDoesSomeArithmetic) {
    EXPECT_GT(measure_fma(0.01), 1e8);
}

TEST(Roof, TwoProcessesDoAtLeastHalfAndAtMostAFewTimesTheWorkOfOne) {
    const double ratio = measure_two_processes(1, 0.05);
    EXPECT_GT(ratio, 0.2);
    EXPECT_LT(ratio, 10.0);
}

}  // namespace
