// SPDX-License-Identifier: MIT
#include "checker/gpu/gpu_roof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
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

// The program itself, as far as it goes without a GPU.
TEST(CalibrateGpu, SaysInOneLineThatThereIsNoGpuToMeasure) {
    const std::string program = "build/calibrate-gpu";
    if (!std::filesystem::exists(program)) {
        GTEST_SKIP() << program << " is not built: nvcc is not here";
    }
    const Finished finished = run_command("CUDA_VISIBLE_DEVICES= " + program + " 2>&1");
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.output.find("calibrate-gpu: no GPU to measure ("), 0U) << finished.output;
    EXPECT_EQ(std::ranges::count(finished.output, '\n'), 1) << finished.output;
}

}  // namespace
}  // namespace checker
