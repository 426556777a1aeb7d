// SPDX-License-Identifier: MIT
#include "checker/devices/gpu/gpu_roof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checker/base/files.h"

namespace checker {
namespace {

// 100 multiprocessors at 1 GHz; 1000 GB/s of memory.
Device device() {
    Device device;
    device.name = "a \"card\"";
    device.major = 9;
    device.sm_count = 100;
    device.l2_bytes = 8 * kMiB;
    device.clock_hz = 1e9;
    device.bus_bits = 1000;
    device.memory_clock_hz = 4e9;
    return device;
}

Result timed(double seconds, double work) {
    Result result;
    const std::vector<double> samples(20, seconds);
    result.seconds = summarise(samples);
    result.work = work;
    return result;
}

TEST(GpuRoof, TheMemoryBusCarriesTwoTransfersAClock) {
    EXPECT_DOUBLE_EQ(device().bus_bytes_per_s().value(), 1e12);
}

TEST(GpuRoof, WithoutABusWidthThereIsNoBound) {
    Device unknown = device();
    unknown.bus_bits = 0;
    Result result = timed(1e-9, 1e9);
    result.bus_bytes = 1e9;
    add_bound(result, unknown, unknown.clock_hz);
    EXPECT_FALSE(result.least_seconds);
    EXPECT_FALSE(result.impossible());
}

TEST(GpuRoof, ACopyFasterThanTheBusIsImpossibleAndHasNoRate) {
    Result result = timed(0.9e-3, 1e9);
    result.bus_bytes = 1e9;
    add_bound(result, device(), device().clock_hz);
    EXPECT_TRUE(result.impossible());
    EXPECT_FALSE(result.rate());
    EXPECT_FALSE(result.time());
}

TEST(GpuRoof, ACopyWithinTheClocksErrorOfTheBusIsPossible) {
    Result result = timed(0.99e-3, 1e9);
    result.bus_bytes = 1e9;
    add_bound(result, device(), device().clock_hz);
    EXPECT_FALSE(result.impossible());
    EXPECT_DOUBLE_EQ(result.rate().value(), 1e9 / 0.99e-3);
}

TEST(GpuRoof, TheLargerOfTwoBoundsCounts) {
    Result result = timed(1, 1e9);
    result.bus_bytes = 1e9;
    result.sm_cycles = 2e6;
    add_bound(result, device(), device().clock_hz);
    EXPECT_DOUBLE_EQ(result.least_seconds.value(), 2e-3);
}

TEST(GpuRoof, ATimeThatIsNoNumberIsImpossible) {
    Result result = timed(std::numeric_limits<double>::quiet_NaN(), 1e9);
    result.bus_bytes = 1e9;
    add_bound(result, device(), device().clock_hz);
    EXPECT_TRUE(result.impossible());
}

TEST(GpuRoof, TheFastestClockIsTheCardsLimitWhereNvmlTellsIt) {
    GpuRoof roof;
    roof.device = device();
    roof.fma.sm_clock = 3e9;
    EXPECT_DOUBLE_EQ(fastest_clock(roof).value(), 3e9);
    roof.sm_clock_max = 2e9;
    EXPECT_DOUBLE_EQ(fastest_clock(roof).value(), 2e9);
}

TEST(GpuRoof, SizesGoFromInsideL2ToFarBeyondItAndNoFurtherThanTheBuffer) {
    EXPECT_EQ(memory_sizes(8 * kMiB, kMiB / 32, 40 * kMiB),
              (std::vector<std::size_t>{kMiB / 2, kMiB, 2 * kMiB, 4 * kMiB, 8 * kMiB, 16 * kMiB, 32 * kMiB}));
}

TEST(GpuRoof, TheJsonHoldsNullsForWhatWasNotMeasured) {
    const nlohmann::json json = nlohmann::json::parse(to_json(GpuRoof{}));
    EXPECT_TRUE(json.at("name").is_null());
    EXPECT_TRUE(json.at("copy_bytes_per_s").is_null());
    EXPECT_TRUE(json.at("details").at("fp32_fma").at("flop_per_s").is_null());
}

TEST(GpuRoof, TheJsonLeavesAnImpossibleRateOutAndSaysWhy) {
    GpuRoof roof;
    roof.device = device();
    MemoryRow row{Operation::copy, Cache::cold, 1000 * kMiB, 4, 800, timed(1e-6, 1e9)};
    row.result.bus_bytes = 1e9;
    add_bound(row.result, *roof.device, roof.device->clock_hz);
    roof.memory.push_back(row);
    const nlohmann::json json = nlohmann::json::parse(to_json(roof));
    EXPECT_EQ(json.at("name"), "a \"card\"");
    EXPECT_TRUE(json.at("copy_bytes_per_s").is_null());
    const nlohmann::json& written = json.at("details").at("memory").at(0);
    EXPECT_TRUE(written.at("bytes_per_s").is_null());
    EXPECT_EQ(written.at("impossible"), true);
    EXPECT_NE(written.at("why").get<std::string>().find("memory bus: 1000 bits x 4000 MHz x 2"), std::string::npos);
}

TEST(GpuRoof, TheMemorysRateIsThatOfTheLargestColdSize) {
    GpuRoof roof;
    roof.device = device();
    roof.memory.push_back({Operation::copy, Cache::cold, 1 * kMiB, 4, 8, timed(1e-6, 1e9)});
    roof.memory.push_back({Operation::copy, Cache::cold, 512 * kMiB, 4, 8, timed(2e-3, 1e9)});
    roof.memory.push_back({Operation::copy, Cache::hot, 512 * kMiB, 4, 8, timed(1e-3, 1e9)});
    const nlohmann::json json = nlohmann::json::parse(to_json(roof));
    EXPECT_DOUBLE_EQ(json.at("copy_bytes_per_s"), 5e11);
}

TEST(Settling, IsWhereTheLastTwoReadingsAgreeWithinOnePercent) {
    EXPECT_FALSE(is_settled({}));
    EXPECT_FALSE(is_settled({1.98e9}));
    EXPECT_TRUE(is_settled({1.98e9, 1.965e9}));
    EXPECT_FALSE(is_settled({1.98e9, 1.95e9}));
    EXPECT_FALSE(is_settled({1.98e9, 1.98e9, 1.7e9})) << "only the last two count";
    EXPECT_FALSE(is_settled({0, 0})) << "no clock was read";
}

// The readings of a clock that takes half a second for each.
Settling settled_by(const std::function<double(int)>& clock) {
    double now = 7;
    int readings = 0;
    return settle_clock(
        [&] {
            now += 0.5;
            return clock(readings++);
        },
        [&] { return now; });
}

TEST(Settling, EndsOnceTheClockStaysTheSame) {
    const Settling settling = settled_by([](int i) { return i < 2 ? 1.2e9 + 0.3e9 * i : 1.98e9; });
    EXPECT_TRUE(settling.settled);
    EXPECT_EQ(settling.readings_hz, (std::vector<double>{1.2e9, 1.5e9, 1.98e9, 1.98e9}));
    EXPECT_DOUBLE_EQ(settling.seconds, 2);
}

TEST(Settling, EndsAfterThreeSecondsWhereTheClockGoesUpAndDown) {
    const Settling settling = settled_by([](int i) { return i % 2 == 0 ? 1.2e9 : 1.9e9; });
    EXPECT_FALSE(settling.settled);
    EXPECT_EQ(settling.readings_hz.size(), 6U);
    EXPECT_DOUBLE_EQ(settling.seconds, 3);
}

TEST(Settling, JsonHasReadingsAndOutcome) {
    const nlohmann::json json = nlohmann::json::parse(
        to_json(Settling{.readings_hz = {1.755e9, 1.98e9, 1.98e9}, .settled = true, .seconds = 1.5}));
    EXPECT_EQ(json, nlohmann::json::parse(R"({"readings_mhz": [1755, 1980, 1980], "settled": true, "seconds": 1.5})"));
}

// The program itself, as far as it goes without a GPU.
class CalibrateGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists(kProgram)) {
            GTEST_SKIP() << kProgram << " is not built: nvcc is not here";
        }
    }
    // Holds that it ends with `status` and one line that begins with `line`.
    static void expect_line(const std::string& options, int status, const std::string& line) {
        const Finished finished = run_command("CUDA_VISIBLE_DEVICES= " + kProgram + options + " 2>&1");
        EXPECT_EQ(finished.status, status);
        EXPECT_EQ(finished.output.find(line), 0U) << finished.output;
        EXPECT_EQ(std::ranges::count(finished.output, '\n'), 1) << finished.output;
    }
    inline static const std::string kProgram = "build/calibrate-gpu";
};

TEST_F(CalibrateGpu, SaysInOneLineThatThereIsNoGpu) {
    for (const char* options : {"", " --settle"}) { expect_line(options, 1, "calibrate-gpu: no GPU to measure ("); }
}

TEST_F(CalibrateGpu, RefusesOptionsThatItDoesNotKnow) {
    for (const char* options : {" --settled", " --settle 3", " -h"}) {
        expect_line(options, 2, "calibrate-gpu: its only option is --settle, alone\n");
    }
}

}  // namespace
}  // namespace checker
