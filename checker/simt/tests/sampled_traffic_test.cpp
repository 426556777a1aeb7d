// SPDX-License-Identifier: MIT
//
// The traffic of launches of which only some blocks run, beside that of the whole launches.
#include "checker/simt/runtime/counting/sampled_traffic.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <stdexcept>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/tests/objects/traffic.h"

namespace {

template <class Function>
Function* function(const char* name) {
    static void* const object = dlopen("build/tests/simt/objects/traffic.so", RTLD_NOW | RTLD_LOCAL);
    void* const symbol = object == nullptr ? nullptr : dlsym(object, name);
    if (symbol == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return reinterpret_cast<Function*>(symbol);
}
#define KERNEL(name) function<decltype(name)>(#name)

constexpr int kN = 64, kC = 256, kOC = 512;
constexpr simt::SamplingEffort kFew{.requests = 5000};  // a block makes 2 * kC and some more

class SampledTraffic : public testing::Test {
  protected:
    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        out_ = buffer("out", kN * kOC);
        inp_ = buffer("inp", kN * kC);
        weight_ = buffer("weight", kC * kOC);
    }
    void TearDown() override {
        cudaFree(out_);
        cudaFree(inp_);
        cudaFree(weight_);
    }

    static float* buffer(const char* name, long floats) {
        void* memory = nullptr;
        if (cudaMalloc(&memory, static_cast<std::size_t>(floats) * sizeof(float)) != cudaSuccess) {
            throw std::runtime_error("no memory");
        }
        simt::name_buffer(memory, name, {{"i", "i", floats}}, sizeof(float));
        cudaMemset(memory, 0, static_cast<std::size_t>(floats) * sizeof(float));
        return static_cast<float*>(memory);
    }
    // OC / 32 blocks along x, N along y.
    std::function<void()> product(int C, int OC = kOC) {
        return [=, this] {
            KERNEL(multiply)(out_, inp_, weight_, kN, C, OC);
            static_cast<void>(cudaDeviceSynchronize());
        };
    }

    float *out_ = nullptr, *inp_ = nullptr, *weight_ = nullptr;
};

TEST_F(SampledTraffic, OfFewBlocksIsThatOfAllOfThem) {
    const simt::SampledTraffic traffic = simt::count_some_blocks(product(16, 64));
    EXPECT_TRUE(traffic.is_whole);
    EXPECT_EQ(traffic.launches.at(0).blocks_run, 2 * kN);
    EXPECT_EQ(traffic.launches.at(0).blocks, 2 * kN);
}

TEST_F(SampledTraffic, OfSomeBlocksIsTheirShareOfWhatAllAskFor) {
    const simt::LaunchTraffic some = simt::count_some_blocks(product(kC), nullptr, kFew).launches.at(0);
    const simt::LaunchTraffic all = simt::count_some_blocks(product(kC), nullptr, {.requests = 200'000}).launches.at(0);
    EXPECT_LT(some.blocks_run, some.blocks);
    EXPECT_EQ(some.total.global_sectors() * all.blocks_run, all.total.global_sectors() * some.blocks_run);
}

TEST_F(SampledTraffic, HasTwoHalvesOfOtherBlocks) {
    const simt::SampledTraffic traffic = simt::count_some_blocks(product(kC), nullptr, kFew);
    EXPECT_EQ(traffic.one_half.at(0).blocks_run + traffic.other_half.at(0).blocks_run,
              traffic.launches.at(0).blocks_run);
}

TEST_F(SampledTraffic, WhereOneHalfIsEnoughRunsNoOther) {
    const simt::SampledTraffic traffic =
        simt::count_some_blocks(product(kC), nullptr, {.requests = kFew.requests, .both_halves = false});
    EXPECT_EQ(traffic.launches.at(0).blocks_run, traffic.one_half.at(0).blocks_run);
}

TEST_F(SampledTraffic, SaysWhatRunsOfBlocksTouchUpToTheWholeLaunch) {
    const simt::LaunchTraffic launch = simt::count_some_blocks(product(kC), nullptr, kFew).launches.at(0);
    ASSERT_FALSE(launch.distinct.empty());
    // A row of inp and 32 columns of weight.
    EXPECT_EQ(launch.distinct.front().blocks, 1U);
    EXPECT_EQ(launch.distinct.front().load_sectors, kC * sizeof(float) / 32 + kC * 128 / 32);
    EXPECT_EQ(launch.distinct.back().blocks, launch.blocks);
    EXPECT_EQ(launch.distinct.back().store_sectors, kN * kOC * sizeof(float) / 32);
}

TEST_F(SampledTraffic, OfTwoHalvesThatAreAsManyBlocksAsTheLaunchSaysTheSame) {
    const simt::LaunchTraffic launch = simt::count_some_blocks(product(16, 256)).launches.at(0);
    ASSERT_EQ(launch.blocks, 512U);  // a half has 256 at most
    EXPECT_EQ(launch.blocks_run, launch.blocks);
    EXPECT_EQ(launch.distinct.back().blocks, launch.blocks);
}

TEST_F(SampledTraffic, NeverSaysThatMoreIsLoadedThanTheBuffersHold) {
    const simt::LaunchTraffic launch = simt::count_some_blocks(product(kC), nullptr, kFew).launches.at(0);
    EXPECT_LE(launch.distinct.back().load_sectors, (kN * kC + kC * kOC) * sizeof(float) / 32);
}

// A thin call's blocks are a sixteenth of the work: many more of them run, and see where columns are used again.
TEST_F(SampledTraffic, OfAThinCallSeesWhatMoreNeighboursShare) {
    const simt::LaunchTraffic launch = simt::count_some_blocks(product(kC), product(kC / 16), kFew).launches.at(0);
    const simt::DistinctSectors& last = launch.distinct.back();
    constexpr double kAll = (kN * kC + kC * kOC) * sizeof(float) / 32.0;
    EXPECT_NEAR(static_cast<double>(last.load_sectors), kAll, 0.1 * kAll);
}

TEST_F(SampledTraffic, OfAThinCallThatLaunchesAnotherGridTakesNothing) {
    const simt::LaunchTraffic with = simt::count_some_blocks(product(kC), product(16, 64), kFew).launches.at(0);
    const simt::LaunchTraffic without = simt::count_some_blocks(product(kC), nullptr, kFew).launches.at(0);
    EXPECT_EQ(with.distinct.back().load_sectors, without.distinct.back().load_sectors);
}

TEST_F(SampledTraffic, IsRefusedWhereEachCallLaunchesSomethingElse) {
    int calls = 0;
    const auto changing = [&] { product(kC, calls++ % 2 == 0 ? kOC : kOC / 2)(); };
    EXPECT_THROW(static_cast<void>(simt::count_some_blocks(changing, nullptr, kFew)), std::runtime_error);
}

}  // namespace
