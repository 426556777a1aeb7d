// SPDX-License-Identifier: MIT
//
// The counts of COUNTERS.md on kernels whose traffic can be worked out by hand (objects/traffic.cu,
// objects/special_functions.cu).
#include "checker/simt/runtime/counting/traffic.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/requests/traffic_runs.h"
#include "checker/simt/runtime/streams/sampling.h"
#include "checker/simt/tests/objects/special_functions.h"
#include "checker/simt/tests/objects/traffic.h"
#include "checker/tests/output.h"

namespace {

using simt::GlobalTraffic;
using simt::SharedTraffic;
using simt::Traffic;

constexpr std::size_t kFloats = 1U << 17;
constexpr const char* kFile = "checker/simt/tests/objects/traffic.cu";
constexpr const char* kSpecialFile = "checker/simt/tests/objects/special_functions.cu";

template <class Function>
Function* function(const char* name, void* object) {
    void* const symbol = object == nullptr ? nullptr : dlsym(object, name);
    if (symbol == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return reinterpret_cast<Function*>(symbol);
}
void* object(const char* name) {
    return dlopen(fmt::format("build/tests/simt/objects/{}.so", name).c_str(), RTLD_NOW | RTLD_LOCAL);
}
void* traffic_object() {
    static void* const loaded = object("traffic");
    return loaded;
}
void* special_object() {
    static void* const loaded = object("special_functions");
    return loaded;
}
#define KERNEL(name) function<decltype(name)>(#name, traffic_object())
#define SPECIAL(name) function<decltype(name)>(#name, special_object())

class CounterResult : public testing::Test {
  protected:
    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        out_ = buffer<float>("out");
        inp_ = buffer<float>("inp");
    }
    void TearDown() override {
        EXPECT_TRUE(simt::findings().empty());
        counting_.reset();
        simt::sample_blocks(std::nullopt);
        for (void* memory : buffers_) { cudaFree(memory); }
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    }

    template <class T>
    T* buffer(const std::string& name) {
        void* memory = nullptr;
        EXPECT_EQ(cudaMalloc(&memory, kFloats * sizeof(float)), cudaSuccess);
        EXPECT_EQ(cudaMemset(memory, 0, kFloats * sizeof(float)), cudaSuccess);
        simt::name_buffer(memory, name, {{"N", "n", static_cast<long>(kFloats)}}, sizeof(float));
        buffers_.push_back(memory);
        return static_cast<T*>(memory);
    }

    Traffic counted(const std::function<void()>& work) {
        counting_.emplace();
        work();
        return simt::traffic_in_all().total;
    }

    float* out_ = nullptr;
    float* inp_ = nullptr;
    std::vector<void*> buffers_;
    std::optional<simt::CountingTraffic> counting_;  // of the last counted()
};

void expect(const GlobalTraffic& traffic, std::uint64_t requests, std::uint64_t sectors, std::uint64_t ideal,
            std::uint64_t asked, std::uint64_t unique) {
    EXPECT_EQ(traffic.requests, requests);
    EXPECT_EQ(traffic.sectors, sectors);
    EXPECT_EQ(traffic.ideal_sectors, ideal);
    EXPECT_EQ(traffic.bytes_asked, asked);
    EXPECT_EQ(traffic.bytes_unique, unique);
}

void expect(const SharedTraffic& traffic, std::uint64_t requests, std::uint64_t wavefronts, std::uint64_t ideal,
            std::uint64_t asked, std::uint64_t distinct) {
    EXPECT_EQ(traffic.requests, requests);
    EXPECT_EQ(traffic.wavefronts, wavefronts);
    EXPECT_EQ(traffic.ideal_wavefronts, ideal);
    EXPECT_EQ(traffic.bytes_asked, asked);
    EXPECT_EQ(traffic.bytes_distinct, distinct);
}

// ---- sectors of global memory -----------------------------------------------------------------------------------------

struct Stride {
    int stride, offset;
    std::uint64_t sectors;
};

class Strided : public CounterResult, public testing::WithParamInterface<Stride> {};

// 8 warps: each asks for 128 bytes. A sector holds 8 floats.
TEST_P(Strided, LoadsTakeTheSectorsThatTheirBytesLieIn) {
    const auto [stride, offset, sectors] = GetParam();
    const Traffic t = counted([&] { KERNEL(load_strided)(out_, inp_, 4, 64, stride, offset); });
    expect(t.loads, 8, 8 * sectors, 32, 1024, stride == 0 ? 4 : 1024);
    expect(t.stores, 8, 32, 32, 1024, 1024);
    EXPECT_EQ(t.uneven, 0U);
}

TEST_P(Strided, StoresTakeTheSectorsThatTheirBytesLieIn) {
    const auto [stride, offset, sectors] = GetParam();
    const Traffic t = counted([&] { KERNEL(store_strided)(out_, 4, 64, stride, offset); });
    expect(t.stores, 8, 8 * sectors, 32, 1024, stride == 0 ? 4 : 1024);
    EXPECT_EQ(t.loads.requests, 0U);
}

INSTANTIATE_TEST_SUITE_P(CounterResult, Strided,
                         testing::Values(Stride{1, 0, 4}, Stride{1, 1, 5}, Stride{1, 8, 4}, Stride{2, 0, 8},
                                         Stride{3, 0, 12}, Stride{8, 0, 32}, Stride{32, 0, 32}, Stride{33, 0, 32},
                                         Stride{0, 0, 1}, Stride{-1, 255, 4}, Stride{-2, 510, 8}),
                         [](const auto& one) {
                             return (one.param.stride < 0 ? "Back" : "") + std::to_string(std::abs(one.param.stride)) +
                                    "Offset" + std::to_string(one.param.offset);
                         });

class Wide : public CounterResult, public testing::WithParamInterface<int> {};

TEST_P(Wide, AccessesSideBySideTakeTheIdeal) {
    const auto bytes = static_cast<std::uint64_t>(GetParam());
    const Traffic t = counted([&] { KERNEL(copy_wide)(out_, inp_, 64, GetParam()); });
    expect(t.loads, 2, 2 * bytes, 2 * bytes, 64 * bytes, 64 * bytes);
    expect(t.stores, 2, 2 * bytes, 2 * bytes, 64 * bytes, 64 * bytes);
}

INSTANTIATE_TEST_SUITE_P(CounterResult, Wide, testing::Values(1, 2, 4, 8, 16));

TEST_F(CounterResult, AFloat4FromAnOddPlaceTakesOneSectorMore) {
    const Traffic t = counted([&] { KERNEL(copy_wide)(out_, inp_ + 4, 32, 16); });
    expect(t.loads, 1, 17, 16, 512, 512);
}

TEST_F(CounterResult, AWarpThatIsNotFullAsksForItsOwnLanesOnly) {
    const Traffic t = counted([&] { KERNEL(load_strided)(out_, inp_, 1, 48, 1, 0); });
    expect(t.loads, 2, 6, 6, 192, 192);
    EXPECT_EQ(t.loads.threads, 48U);
    EXPECT_EQ(t.uneven, 0U);
}

TEST_F(CounterResult, AThreadARowTakesASectorALane) {
    const Traffic t = counted([&] { KERNEL(sum_rows)(out_, inp_, 64); });
    expect(t.loads, 64, 64 * 32, 64 * 4, 64 * 128, 64 * 128);
}

TEST_F(CounterResult, AnyOrderOfAddressesCountsEachSectorOnce) {
    int* at = buffer<int>("at");
    std::mt19937 random(7);
    for (int times = 0; times < 4; times++) {
        std::vector<int> places(32);
        for (int& place : places) { place = static_cast<int>(random() % (times < 2 ? 256 : 100'000)); }
        ASSERT_EQ(cudaMemcpy(at, places.data(), 128, cudaMemcpyHostToDevice), cudaSuccess);
        std::set<int> sectors, floats(places.begin(), places.end());
        for (const int place : places) { sectors.insert(place / 8); }
        const Traffic t = counted([&] { KERNEL(gather)(out_, inp_, at, 32); });
        expect(t.loads, 2, 4 + sectors.size(), 8, 256, 128 + 4 * floats.size());
    }
}

TEST_F(CounterResult, TheRowsOfABlockThatAWarpHoldsShareSectors) {
    // A warp has 2 rows of 16: the same 16 floats for both rows, and one float a row, 64 floats apart.
    const Traffic t = counted([&] { KERNEL(tile_rows)(out_, inp_, 16); });
    expect(t.loads, 16, 8 * 2 + 8 * 2, 64, 2048, 4 * (16 + 16));
}

// Nsight Compute's sm__sass_data_bytes_mem_global_op_ld on an H100 (VS_NCU.md): 4 bytes in each request of stride 0, 36 on
// average in a block of 16 by 16.
TEST_F(CounterResult, ARequestHasEachOfItsBytesOnce) {
    EXPECT_EQ(counted([&] { KERNEL(load_strided)(out_, inp_, 4, 64, 0, 0); }).loads.bytes_distinct, 8U * 4U);
    EXPECT_EQ(counted([&] { KERNEL(load_strided)(out_, inp_, 4, 64, 33, 1); }).loads.bytes_distinct, 8U * 128U);
    EXPECT_EQ(counted([&] { KERNEL(load_strided)(out_, inp_, 4, 64, -1, 255); }).loads.bytes_distinct, 8U * 128U);
    const Traffic rows = counted([&] { KERNEL(tile_rows)(out_, inp_, 16); });
    EXPECT_EQ(rows.loads.bytes_distinct, 16U * 36U);
    EXPECT_EQ(rows.stores.bytes_distinct, 8U * 128U);
    EXPECT_EQ(counted([&] { KERNEL(add_atomically)(out_, 4); }).atomics.bytes_distinct, 16U);
}

TEST_F(CounterResult, ATransposedStoreTakesASectorALane) {
    const Traffic t = counted([&] { KERNEL(transpose_directly)(out_, inp_, 64); });
    expect(t.loads, 128, 512, 512, 16384, 16384);
    expect(t.stores, 128, 128 * 32, 512, 16384, 16384);
}

TEST_F(CounterResult, AStructIsMovedInPiecesOf16Bytes) {
    const Traffic t = counted([&] { KERNEL(copy_structs)(out_, inp_); });
    expect(t.loads, 2, 2 * 32, 32, 1024, 1024);
    expect(t.stores, 2, 2 * 32, 32, 1024, 1024);
}

TEST_F(CounterResult, AVectorOfConstantsIsStoredInOneAccess) {
    const Traffic t = counted([&] { KERNEL(store_constants)(out_); });
    expect(t.stores, 2, 16 + 8, 16 + 8, 512 + 256, 512 + 256);
}

TEST_F(CounterResult, DeviceVariablesAreGlobalAndConstantsParametersAndLocalArraysAreNot) {
    const Traffic t = counted([&] { KERNEL(use_variables)(out_, 1.0F); });
    expect(t.loads, 1, 1, 4, 128, 4);
    expect(t.stores, 1, 4, 4, 128, 128);
    EXPECT_EQ(t.shared_requests(), 0U);
}

TEST_F(CounterResult, ManagedMemoryIsGlobal) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal), cudaSuccess);
    const Traffic t = counted([&] { KERNEL(load_strided)(out_, static_cast<float*>(memory), 1, 32, 1, 0); });
    cudaFree(memory);
    expect(t.loads, 1, 4, 4, 128, 128);
}

// ---- lines and data banks of L1 ---------------------------------------------------------------------------------------

struct Lines {
    int stride, offset;
    std::uint64_t lines, wavefronts;
    std::uint64_t quarters;  // of a cycle
};

class LinesOfL1 : public CounterResult, public testing::WithParamInterface<Lines> {};

// 8 warps; each stores side by side too, which takes a cycle.
TEST_P(LinesOfL1, AreThoseThatEachRequestTouches) {
    const auto [stride, offset, lines, wavefronts, quarters] = GetParam();
    const Traffic t = counted([&] { KERNEL(load_strided)(out_, inp_, 4, 64, GetParam().stride, GetParam().offset); });
    EXPECT_EQ(t.loads.lines, 8 * lines);
    EXPECT_EQ(t.loads.wavefronts, 8 * wavefronts);
    EXPECT_EQ(t.stores.lines, 8U);
    EXPECT_EQ(t.stores.wavefronts, 8U);
    EXPECT_EQ(t.quarter_cycles_32, 8 * (quarters + 4));
    EXPECT_EQ(t.quarter_cycles_16, 8 * (std::max<std::uint64_t>(quarters, 8) + 8));
    EXPECT_EQ(t.lsu_instructions(), 16U);
}

INSTANTIATE_TEST_SUITE_P(CounterResult, LinesOfL1,
                         testing::Values(Lines{1, 0, 1, 1, 4}, Lines{1, 1, 2, 1, 4}, Lines{0, 0, 1, 1, 4},
                                         Lines{2, 0, 2, 2, 8}, Lines{3, 0, 3, 1, 5}, Lines{8, 0, 8, 8, 32},
                                         Lines{31, 0, 31, 1, 33}, Lines{32, 0, 32, 32, 128}, Lines{33, 0, 32, 1, 34},
                                         Lines{-1, 255, 1, 1, 4}, Lines{-3, 767, 3, 1, 5}),
                         [](const auto& one) {
                             return (one.param.stride < 0 ? "Back" : "") + std::to_string(std::abs(one.param.stride)) +
                                    "Offset" + std::to_string(one.param.offset);
                         });

TEST_P(Wide, AccessesSideBySideTakeAWavefrontFor128Bytes) {
    const auto words = static_cast<std::uint64_t>(std::max(GetParam() / 4, 1));
    const Traffic t = counted([&] { KERNEL(copy_wide)(out_, inp_, 64, GetParam()); });
    for (const GlobalTraffic& one : {t.loads, t.stores}) {
        EXPECT_EQ(one.lines, 2 * words);
        EXPECT_EQ(one.wavefronts, 2 * words);
    }
    EXPECT_EQ(t.quarter_cycles_32, 4 * 4 * words);
}

TEST_F(CounterResult, AFloat4FromAnOddPlaceTakesALineMoreAndNoCycle) {
    const Traffic t = counted([&] { KERNEL(copy_wide)(out_, inp_ + 4, 32, 16); });
    EXPECT_EQ(t.loads.lines, 5U);
    EXPECT_EQ(t.loads.wavefronts, 4U);
    EXPECT_EQ(t.quarter_cycles_32, 16U + 16U);
}

TEST_F(CounterResult, AColumnOfAPowerOfTwoTakes32Cycles) {
    const Traffic t = counted([&] { KERNEL(sum_rows)(out_, inp_, 64); });
    EXPECT_EQ(t.loads.lines, 64U * 32);
    EXPECT_EQ(t.loads.wavefronts, 64U * 32);
    EXPECT_EQ(t.quarter_cycles_32, 64U * 128 + 4);
}

TEST_F(CounterResult, AnyOrderOfAddressesCountsEachLineOnce) {
    int* at = buffer<int>("at");
    std::vector<int> places(32);
    for (int i = 0; i < 32; i++) { places[i] = i * 5 % 32 * 7; }  // 0, 7, …, 217 in another order
    ASSERT_EQ(cudaMemcpy(at, places.data(), 128, cudaMemcpyHostToDevice), cudaSuccess);
    const Traffic t = counted([&] { KERNEL(gather)(out_, inp_, at, 32); });
    EXPECT_EQ(t.loads.lines, 1U + 7);
    EXPECT_EQ(t.loads.wavefronts, 1U + 1);
    EXPECT_EQ(t.quarter_cycles_32, 4U + 9 + 4);
}

// Cycles that a warp's load took where L1 had the bytes (measured by RRZE-HPC/gpu-benches, gpu-strides; COUNTERS.md).
struct Measured {
    int stride;
    std::uint64_t wavefronts;
    double a100, a40;  // 32 and 16 lanes a cycle
};

class MeasuredStrides : public CounterResult, public testing::WithParamInterface<Measured> {};

TEST_P(MeasuredStrides, TakeTheCyclesThatAreCounted) {
    const auto [stride, wavefronts, a100, a40] = GetParam();
    const Traffic t = counted([&] { KERNEL(load_eight_strided)(out_, inp_, GetParam().stride); });
    ASSERT_EQ(t.loads.requests, 16U);
    EXPECT_EQ(t.loads.wavefronts, 16 * wavefronts);
    // The two stores take a cycle each, and 2 with 16 lanes.
    EXPECT_NEAR(static_cast<double>(t.quarter_cycles_32 - 8) / 4 / 16, a100, 0.15 * a100);
    EXPECT_NEAR(static_cast<double>(t.quarter_cycles_16 - 16) / 4 / 16, a40, 0.15 * a40);
}

INSTANTIATE_TEST_SUITE_P(CounterResult, MeasuredStrides,
                         testing::Values(Measured{1, 1, 1.02, 2.00}, Measured{2, 2, 2.00, 2.00},
                                         Measured{3, 1, 1.63, 2.00}, Measured{4, 4, 4.00, 4.00},
                                         Measured{8, 8, 8.0, 8.0}, Measured{15, 1, 4.45, 4.45},
                                         Measured{16, 16, 16.0, 16.0}, Measured{17, 1, 5.1, 5.1},
                                         Measured{31, 1, 8.5, 8.5}, Measured{32, 32, 32.0, 32.0},
                                         Measured{33, 1, 8.8, 8.8}),
                         [](const auto& one) { return "Stride" + std::to_string(one.param.stride); });

// ---- unique bytes -----------------------------------------------------------------------------------------------------

TEST_F(CounterResult, BytesThatManyThreadsReadAreUniqueOnce) {
    const Traffic t = counted([&] { KERNEL(read_all)(out_, inp_, 1000, 64); });
    expect(t.loads, 2000, 2000, 8000, 256'000, 4000);
    EXPECT_EQ(t.bytes_needed(), 4000U + 256U);
    EXPECT_EQ(t.bytes_moved(), 32U * (2000 + 8));
}

TEST_F(CounterResult, BytesThatTwoLinesReadAreUniqueOnceInTheLaunch) {
    const Traffic t = counted([&] { KERNEL(read_twice)(out_, inp_); });
    expect(t.loads, 2, 8, 8, 256, 4 * 48);
    std::uint64_t of_lines = 0;
    for (const simt::LineTraffic& line : simt::traffic_in_all().lines) { of_lines += line.traffic.loads.bytes_unique; }
    EXPECT_EQ(of_lines, 256U);
}

TEST_F(CounterResult, EachLaunchNeedsItsBytesAnew) {
    const Traffic t = counted([&] {
        KERNEL(load_strided)(out_, inp_, 1, 32, 1, 0);
        KERNEL(load_strided)(out_, inp_, 1, 32, 1, 0);
    });
    EXPECT_EQ(t.loads.bytes_unique, 256U);
}

// ---- sectors of runs of blocks ----------------------------------------------------------------------------------------

// blocks of a run, runs, sectors loaded, sectors stored
using Runs = std::vector<std::array<std::uint64_t, 4>>;

Runs in_numbers(const std::vector<simt::DistinctSectors>& distinct) {
    Runs all;
    for (const simt::DistinctSectors& one : distinct) {
        all.push_back({one.blocks, one.runs, one.load_sectors, one.store_sectors});
    }
    return all;
}

// A block loads a row of inp, 64 floats, and 64 pieces of 32 floats of weight.
TEST_F(CounterResult, BlocksOfAMatmulShareRowsAndThenColumns) {
    float* weight = buffer<float>("weight");
    counted([&] { KERNEL(multiply)(out_, inp_, weight, 4, 64, 128); });
    EXPECT_EQ(in_numbers(simt::traffic_of_launches().at(0).distinct), (Runs{{1, 16, 16 * (8 + 4 * 64), 64},
                                                                            {2, 8, 8 * (8 + 8 * 64), 64},
                                                                            {4, 4, 4 * (8 + 16 * 64), 64},
                                                                            {8, 2, 2 * (16 + 16 * 64), 64},
                                                                            {16, 1, 32 + 16 * 64, 64}}));
}

TEST_F(CounterResult, TheLastRunIsTheWholeLaunch) {
    float* weight = buffer<float>("weight");
    counted([&] { KERNEL(multiply)(out_, inp_, weight, 3, 64, 128); });
    EXPECT_EQ(in_numbers(simt::traffic_of_launches().at(0).distinct), (Runs{{1, 12, 12 * (8 + 4 * 64), 48},
                                                                            {2, 6, 6 * (8 + 8 * 64), 48},
                                                                            {4, 3, 3 * (8 + 16 * 64), 48},
                                                                            {8, 1, 16 + 16 * 64, 32},
                                                                            {12, 1, 24 + 16 * 64, 48}}));
}

// 64 floats are 8 sectors; the two beyond a run's end lie in one more.
TEST_F(CounterResult, BlocksOfAStencilShareTheirHalos) {
    counted([&] { KERNEL(stencil)(out_, inp_, 8); });
    EXPECT_EQ(in_numbers(simt::traffic_of_launches().at(0).distinct),
              (Runs{{1, 8, 8 * 9, 64}, {2, 4, 4 * 17, 64}, {4, 2, 2 * 33, 64}, {8, 1, 65, 64}}));
}

TEST_F(CounterResult, AtomicsLoadAndStore) {
    counted([&] { KERNEL(add_atomically)(out_, 32); });
    EXPECT_EQ(in_numbers(simt::traffic_of_launches().at(0).distinct), (Runs{{1, 1, 4, 4}}));
}

// The flags of all blocks lie in one sector.
TEST_F(CounterResult, RunsAreTheSameWhereBlocksEndInTheReverseOfTheirOrder) {
    int* flags = buffer<int>("flags");
    counted([&] { KERNEL(last_block_first)(out_, inp_, flags, 8); });
    EXPECT_EQ(in_numbers(simt::traffic_of_launches().at(0).distinct),
              (Runs{{1, 8, 8 * 5, 8 * 5}, {2, 4, 4 * 9, 4 * 9}, {4, 2, 2 * 17, 2 * 17}, {8, 1, 33, 33}}));
}

TEST_F(CounterResult, OfASampledLaunchTheRunsOfBlocksThatRan) {
    simt::sample_blocks(simt::Sampling{.choose = [](const std::string&, dim3) {
        std::vector<std::uint64_t> blocks;  // four times four neighbours
        for (const std::uint64_t first : {0U, 20U, 52U, 92U}) {
            for (std::uint64_t i = 0; i < 4; i++) { blocks.push_back(first + i); }
        }
        return blocks;
    }});
    counted([&] { KERNEL(load_strided)(out_, inp_, 96, 32, 1, 0); });
    ASSERT_EQ(simt::traffic_of_launches().at(0).blocks_run, 16U);
    const Runs runs = in_numbers(simt::traffic_of_launches()[0].distinct);
    ASSERT_GE(runs.size(), 3U);
    EXPECT_EQ((Runs{runs.begin(), runs.begin() + 3}), (Runs{{1, 16, 64, 64}, {2, 8, 64, 64}, {4, 4, 64, 64}}));
    EXPECT_LT(runs.back()[0], 96U) << "not the whole launch";
}

TEST_F(CounterResult, RunsOfTheSameLengthAreAddedUpOverAKernelsLaunches) {
    counted([&] {
        KERNEL(stencil)(out_, inp_, 4);
        KERNEL(stencil)(out_, inp_, 3);
    });
    EXPECT_EQ(in_numbers(simt::traffic_of_kernels().at(0).distinct),
              (Runs{{1, 7, 7 * 9, 56}, {2, 3, 3 * 17, 48}, {3, 1, 25, 24}, {4, 1, 33, 32}}));
    const std::string json = simt::traffic_as_json(simt::traffic_of_launches(), {});
    const std::size_t at = json.find("\"distinct\": [");
    ASSERT_NE(at, std::string::npos) << json;
    for (const char* part : {"\"blocks\": 4", "\"runs\": 1", "\"load_sectors\": 33", "\"store_sectors\": 32"}) {
        EXPECT_NE(json.find(part, at), std::string::npos) << part << " in\n" << json;
    }
}

// A table of 16 words takes 12, one of 32 takes 24. Each block touches 10 words of its own: two runs of two blocks have
// no room beside each other while the second is merged.
TEST(RunsOfBlocks, LongerOnesAreLeftOutWhereThereIsNoRoom) {
    simt::BlockRuns runs(64);
    for (std::uint64_t block = 0; block < 8; block++) {
        for (std::uint64_t word = 0; word < 10; word++) { runs.of(block).loads.add(64 * (10 * block + word)); }
        runs.end_block(block);
    }
    EXPECT_EQ(in_numbers(runs.end_launch(8)), (Runs{{1, 8, 80, 0}, {2, 3, 60, 0}}));
    runs.of(0).stores.add(1);
    runs.end_block(0);
    EXPECT_EQ(in_numbers(runs.end_launch(1)), (Runs{{1, 1, 0, 1}})) << "and the next launch has all of it";
}

TEST(RunsOfBlocks, OfABlockForWhichThereIsNoRoomNothingIsCounted) {
    simt::BlockRuns runs(16);
    for (std::uint64_t word = 0; word < 13; word++) { runs.of(0).loads.add(64 * word); }
    runs.end_block(0);
    runs.of(1).loads.add(0);
    runs.end_block(1);
    EXPECT_EQ(in_numbers(runs.end_launch(2)), (Runs{{1, 1, 1, 0}}));
}

TEST(RunsOfBlocks, AnyOrderOfTheirEndsGivesTheSame) {
    std::vector<std::uint64_t> order(13);
    std::iota(order.begin(), order.end(), 0U);
    std::set<Runs> all;
    std::mt19937 random(3);
    for (int times = 0; times < 10; times++) {
        simt::BlockRuns runs;
        for (const std::uint64_t block : order) {
            for (std::uint64_t sector = 0; sector < 100; sector++) { runs.of(block).loads.add(70 * block + sector); }
            runs.end_block(block);
        }
        all.insert(in_numbers(runs.end_launch(13)));
        std::shuffle(order.begin(), order.end(), random);
    }
    EXPECT_EQ(
        all,
        (std::set<Runs>{
            {{1, 13, 1300, 0}, {2, 6, 6 * 170, 0}, {4, 3, 3 * 310, 0}, {8, 1, 590, 0}, {13, 1, 12 * 70 + 100, 0}}}));
}

// ---- lanes that go different ways -------------------------------------------------------------------------------------

TEST_F(CounterResult, ARaggedLoopAsksOnceAnIterationForTheLanesThatAreInIt) {
    const Traffic t = counted([&] { KERNEL(ragged_loop)(out_, inp_, 1); });
    EXPECT_EQ(t.loads.requests, 31U);
    EXPECT_EQ(t.loads.threads, 31U * 32 / 2);
    EXPECT_EQ(t.stores.requests, 1U) << "together again";
    EXPECT_EQ(t.uneven, 1U);
}

TEST_F(CounterResult, ARaggedLoopLongerThanATraceCountsTheSame) {
    const Traffic t = counted([&] { KERNEL(ragged_loop)(out_, inp_, 100); });
    EXPECT_EQ(t.loads.requests, 3100U);
    EXPECT_EQ(t.loads.threads, 49'600U);
    EXPECT_EQ(t.stores.requests, 1U);
    EXPECT_EQ(t.uneven, 1U);
}

TEST_F(CounterResult, RaggedInnerLoopsMeetAtTheEndOfEachRow) {
    const Traffic t = counted([&] { KERNEL(ragged_loops)(out_, inp_); });
    EXPECT_EQ(t.loads.requests, 9U) << "each row's longest loop is 3";
    EXPECT_EQ(t.loads.threads, 8U * (3 * (0 + 1 + 2 + 3)));
    EXPECT_EQ(t.stores.requests, 3U);
    EXPECT_EQ(t.stores.sectors, 12U);
}

TEST_F(CounterResult, ThreadsThatLeaveEarlyAskForNothing) {
    const Traffic t = counted([&] { KERNEL(leave_early)(out_, inp_, 70); });
    expect(t.loads, 3, 4 + 4 + 1, 9, 280, 280);
    EXPECT_EQ(t.uneven, 2U) << "the load and the store in the warp of threads 64 to 95";
}

TEST_F(CounterResult, ThreadsThatBreakOutWaitForTheOthers) {
    const Traffic t = counted([&] { KERNEL(break_early)(out_, inp_); });
    EXPECT_EQ(t.loads.requests, 8U);
    EXPECT_EQ(t.loads.threads, 4U * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8));
    EXPECT_EQ(t.stores.requests, 1U);
}

TEST_F(CounterResult, BothSidesOfABranchAskByThemselves) {
    const Traffic t = counted([&] { KERNEL(both_ways)(out_, inp_); });
    expect(t.loads, 2, 8, 4, 128, 128);
    EXPECT_EQ(t.loads.threads, 32U);
    expect(t.stores, 1, 4, 4, 128, 128);
    EXPECT_EQ(t.uneven, 2U);
}

TEST_F(CounterResult, TheCasesOfASwitchAskByThemselves) {
    const Traffic t = counted([&] { KERNEL(by_switch)(out_, inp_); });
    EXPECT_EQ(t.loads.requests, 3U);
    EXPECT_EQ(t.loads.threads, 24U);
    EXPECT_EQ(t.stores.requests, 1U);
}

TEST_F(CounterResult, LanesThatSkipTheEndOfALoopsBodyDoNotRunAhead) {
    const Traffic t = counted([&] { KERNEL(half_warps)(out_, inp_); });
    EXPECT_EQ(t.loads.requests, 8U + 8);
    EXPECT_EQ(t.loads.threads, 8U * 32 + 8 * 16);
    EXPECT_EQ(t.stores.requests, 1U);
}

TEST_F(CounterResult, AShuffleIsNoAccess) {
    const Traffic t = counted([&] { KERNEL(sum_by_shuffles)(out_, inp_); });
    EXPECT_EQ(t.loads.requests, 3U);
    EXPECT_EQ(t.loads.threads, 80U);
    expect(t.stores, 1, 1, 1, 4, 4);
    EXPECT_EQ(t.shared_requests(), 0U);
}

TEST_F(CounterResult, AShuffleIsAnInstructionOfTheLoadStoreUnit) {
    const Traffic t = counted([&] { KERNEL(sum_by_shuffles)(out_, inp_); });
    EXPECT_EQ(t.shuffles, 5U);
    EXPECT_EQ(t.lsu_instructions(), 3U + 1 + 5);
    EXPECT_EQ(t.quarter_cycles_32, 4U * 9);
    EXPECT_EQ(t.quarter_cycles_16, 8U * 9);
}

TEST_F(CounterResult, AShuffleOf8BytesIsTwo) {
    const Traffic t = counted([&] { KERNEL(shuffle_doubles)(buffer<double>("doubles")); });
    EXPECT_EQ(t.shuffles, 10U);
    EXPECT_EQ(t.lsu_instructions(), 11U);
    EXPECT_EQ(t.quarter_cycles_32, 4U * (10 + 2));
}

TEST_F(CounterResult, VotesAreNoInstructionsOfTheLoadStoreUnit) {
    const Traffic t = counted([&] { KERNEL(vote)(buffer<int>("votes")); });
    EXPECT_EQ(t.shuffles, 0U);
    EXPECT_EQ(t.lsu_instructions(), 1U);
    EXPECT_EQ(t.quarter_cycles_32, 4U);
}

TEST_F(CounterResult, ARecursionOfAllLanesAsksTogether) {
    const Traffic t = counted([&] { KERNEL(recurse)(out_, inp_, 0); });
    EXPECT_EQ(t.loads.requests, 1U + 2 + 4);
    EXPECT_EQ(t.loads.threads, 32U * 7);
    EXPECT_EQ(t.stores.requests, 1U);
    EXPECT_EQ(t.uneven, 0U);
}

TEST_F(CounterResult, ARecursionOfDifferentDepthsGoesByTheCallPath) {
    // Lane i goes i % 3 deep: 11 lanes ask once, 11 for 3 and 10 for 7. Those at one depth by one way ask together.
    const Traffic t = counted([&] { KERNEL(recurse)(out_, inp_, 1); });
    EXPECT_EQ(t.loads.requests, 7U);
    EXPECT_EQ(t.loads.threads, 11U * 1 + 11 * 3 + 10 * 7);
    EXPECT_EQ(t.stores.requests, 1U);
}

TEST_F(CounterResult, FunctionsThatAreCalledByPointerAskByThemselves) {
    const Traffic t = counted([&] { KERNEL(call_by_pointer)(out_, inp_); });
    EXPECT_EQ(t.loads.requests, 2U);
    EXPECT_EQ(t.loads.threads, 32U);
    EXPECT_EQ(t.loads.sectors, 1U + 3U);
    EXPECT_EQ(t.stores.requests, 1U);
}

TEST_F(CounterResult, OneAccessToTwoMemoriesIsTwoRequests) {
    const Traffic t = counted([&] { KERNEL(through_either)(out_, inp_); });
    expect(t.loads, 1, 2, 2, 64, 64);
    expect(t.shared_loads, 1, 1, 1, 64, 64);
    EXPECT_EQ(t.stores.requests, 1U);
}

TEST_F(CounterResult, TheOrderOfTheThreadsChangesNothing) {
    std::vector<std::string> reports;
    for (std::uint64_t seed = 1; seed <= 5; seed++) {
        simt::set_seed(seed);
        counted([&] {
            KERNEL(ragged_loop)(out_, inp_, 20);
            KERNEL(ragged_loops)(out_, inp_);
            KERNEL(transpose_by_tiles)(out_, inp_, 64, 1);
            KERNEL(recurse)(out_, inp_, 1);
            KERNEL(sum_by_shuffles)(out_, inp_);
            KERNEL(leave_early)(out_, inp_, 70);
        });
        reports.push_back(simt::traffic_as_json(simt::traffic_of_launches(), simt::traffic_of_kernels()));
    }
    simt::set_seed(1);
    EXPECT_EQ(std::count(reports.begin(), reports.end(), reports[0]), 5);
}

// ---- shared memory ----------------------------------------------------------------------------------------------------

struct Bank {
    int bytes, stride;
    std::uint64_t wavefronts, ideal;
    std::uint64_t distinct;
};

class BankConflicts : public CounterResult, public testing::WithParamInterface<Bank> {};

TEST_P(BankConflicts, AreTheWordsThatOneBankMustGive) {
    const auto [bytes, stride, wavefronts, ideal, distinct] = GetParam();
    const Traffic t = counted([&] { KERNEL(load_shared)(out_, GetParam().bytes, GetParam().stride); });
    expect(t.shared_loads, 1, wavefronts, ideal, 32 * static_cast<std::uint64_t>(bytes), distinct);
    EXPECT_EQ(t.excess_wavefronts(), wavefronts - ideal) << "none from the stores";
    EXPECT_EQ(t.shared_stores.bytes_asked, 8192U);
    EXPECT_EQ(t.shared_stores.wavefronts, 64U);
    EXPECT_EQ(t.quarter_cycles_32, 4 * (wavefronts + 64 + 1));
}

INSTANTIATE_TEST_SUITE_P(
    CounterResult, BankConflicts,
    testing::Values(Bank{4, 0, 1, 1, 4}, Bank{4, 1, 1, 1, 128}, Bank{4, 2, 2, 1, 128}, Bank{4, 3, 1, 1, 128},
                    Bank{4, 4, 4, 1, 128}, Bank{4, 8, 8, 1, 128}, Bank{4, 16, 16, 1, 128}, Bank{4, 32, 32, 1, 128},
                    Bank{4, 33, 1, 1, 128}, Bank{8, 0, 2, 2, 8}, Bank{8, 1, 2, 2, 256}, Bank{8, 2, 4, 2, 256},
                    Bank{8, 16, 32, 2, 256}, Bank{8, 17, 2, 2, 256}, Bank{16, 0, 4, 4, 16}, Bank{16, 1, 4, 4, 512},
                    Bank{16, 2, 8, 4, 512}, Bank{16, 8, 32, 4, 512}, Bank{16, 9, 4, 4, 512}),
    [](const auto& one) { return std::to_string(one.param.bytes) + "BytesStride" + std::to_string(one.param.stride); });

struct Matrices {
    int matrices, pitch;  // floats
    std::uint64_t wavefronts;
};

class MatrixLoads : public CounterResult, public testing::WithParamInterface<Matrices> {};

TEST_P(MatrixLoads, TakeAWavefrontForEachRowInTheSameBanks) {
    const auto [matrices, pitch, wavefronts] = GetParam();
    const Traffic t = counted([&] { KERNEL(load_matrices)(out_, GetParam().matrices, GetParam().pitch); });
    const auto phases = static_cast<std::uint64_t>(matrices);
    expect(t.matrix_loads, 1, wavefronts, phases, 128 * phases, 128 * phases);
    EXPECT_EQ(t.excess_wavefronts(), wavefronts - phases) << "none from the stores";
    EXPECT_EQ(t.shared_loads.requests, 0U);
    EXPECT_EQ(t.uneven, 0U) << "all lanes execute it";
}

INSTANTIATE_TEST_SUITE_P(CounterResult, MatrixLoads,
                         testing::Values(Matrices{1, 4, 1}, Matrices{2, 4, 2}, Matrices{4, 4, 4}, Matrices{1, 32, 8},
                                         Matrices{2, 32, 16}, Matrices{4, 32, 32}, Matrices{4, 36, 4},
                                         Matrices{4, 16, 16}, Matrices{4, 20, 4}, Matrices{4, 8, 8}),
                         [](const auto& one) {
                             return "x" + std::to_string(one.param.matrices) + "Pitch" +
                                    std::to_string(one.param.pitch);
                         });

TEST_F(CounterResult, TensorCoresCountInstructionsAndOperationsByType) {
    const Traffic t = counted([&] { KERNEL(use_tensor_cores)(out_, inp_); });
    EXPECT_EQ(t.tensor.instructions, 10U);
    EXPECT_EQ(t.tensor.tf32, 16U * 8 * (3 * 8 + 4));
    EXPECT_EQ(t.tensor.bf16, 16U * 8 * (16 + 8));
    EXPECT_EQ(t.tensor.f16, 16U * 8 * (16 + 8));
    EXPECT_EQ(t.tensor.f16_to_f16, 16U * 8 * (16 + 8));
    EXPECT_EQ(t.tensor.truncated, 3U * 2 * 32);
    EXPECT_EQ(t.loads.requests, 1U);
    EXPECT_EQ(t.shuffles, 0U);
}

TEST_F(CounterResult, AWmmaProductIsTwoInstructions) {
    const Traffic t = counted([&] { KERNEL(use_wmma)(out_, inp_); });
    EXPECT_EQ(t.tensor.instructions, 2U);
    EXPECT_EQ(t.tensor.f16, 16U * 16 * 16);
    expect(t.loads, 2, 2 * 16, 2 * 16, 2 * 512, 512);
    expect(t.stores, 2, 32, 32, 1024, 1024);
}

TEST_F(CounterResult, BytesOfOneWordComeFromOneBank) {
    const Traffic side_by_side = counted([&] { KERNEL(load_shared_bytes)(out_, 1); });
    expect(side_by_side.shared_loads, 1, 1, 1, 32, 32);
    const Traffic apart = counted([&] { KERNEL(load_shared_bytes)(out_, 8); });
    expect(apart.shared_loads, 1, 2, 1, 32, 32);
}

// In a quarter-warp of 16-byte accesses there is place for 8 of them side by side, in a half-warp of 8-byte ones for 16.
TEST_F(CounterResult, ARequestOfFloatsHasTheWavefrontsThatMergedNeighboursWouldTake) {
    struct Merged {
        int stride;
        std::uint64_t of_8, of_16;
    };
    for (const auto [stride, of_8, of_16] : {Merged{0, 2, 4}, {1, 2, 4}, {4, 4, 4}, {8, 8, 8}, {32, 32, 32}}) {
        const Traffic t = counted([&] { KERNEL(load_shared)(out_, 4, stride); });
        EXPECT_EQ(t.shared_loads.wavefronts_of_8, of_8) << stride;
        EXPECT_EQ(t.shared_loads.wavefronts_of_16, of_16) << stride;
    }
    EXPECT_EQ(counted([&] { KERNEL(load_shared)(out_, 16, 1); }).shared_loads.wavefronts_of_16, 0U) << "as wide itself";
}

TEST_F(CounterResult, LoadsOfSharedMemoryInOneLineAreCountedOneByOne) {
    counted([&] { KERNEL(two_shared_loads)(out_, inp_); });
    const std::vector<simt::LineTraffic>& lines = simt::traffic_of_launches().at(0).lines;
    const auto line = std::ranges::find_if(lines, [](const auto& one) { return one.shared_loads.size() == 2; });
    ASSERT_NE(line, lines.end());
    EXPECT_EQ(line->shared_loads[0].traffic.requests, 1U);
    EXPECT_EQ(line->shared_loads[0].traffic.bytes_distinct + line->shared_loads[1].traffic.bytes_distinct, 4U + 128U);
    EXPECT_EQ(line->traffic.shared_loads.requests, 2U);
    EXPECT_NE(simt::traffic_as_json(simt::traffic_of_launches(), {}).find("\"shared_loads\": ["), std::string::npos);
}

TEST_F(CounterResult, ALoadIsOverlappedWhereItsLaneHasACopyOnItsWay) {
    for (const unsigned int lanes : {0U, 5U, 32U}) {
        const Traffic t = counted([&] { KERNEL(load_beside_copies)(out_, inp_, static_cast<int>(lanes)); });
        EXPECT_EQ(t.shared_loads.bytes_asked, 5U * 128);
        EXPECT_EQ(t.shared_loads.bytes_overlapped, 2U * 4 * lanes) << "one load before each of the two waits";
    }
}

// Of its 2 copies, 3 + 3 + 1 other accesses to shared and 2 to global memory each takes a wavefront.
TEST_F(CounterResult, AnAsynchronousCopyIsALoadAndAStore) {
    const Traffic t = counted([&] { KERNEL(load_beside_copies)(out_, inp_, 32); });
    EXPECT_EQ(t.loads.requests, 1U + 2);
    EXPECT_EQ(t.shared_stores.requests, 3U + 2);
    EXPECT_EQ(t.lsu_instructions(), 3U + 5 + 5 + 1);
    EXPECT_EQ(t.quarter_cycles_32, 4U * 14);
}

TEST_F(CounterResult, ATileWithoutPaddingIsReadInAColumnBy32Wavefronts) {
    const Traffic t = counted([&] { KERNEL(transpose_by_tiles)(out_, inp_, 64, 0); });
    expect(t.loads, 128, 512, 512, 16384, 16384);
    expect(t.stores, 128, 512, 512, 16384, 16384);
    expect(t.shared_stores, 128, 128, 128, 16384, 16384);
    expect(t.shared_loads, 128, 128 * 32, 128, 16384, 16384);
    EXPECT_EQ(t.excess_wavefronts(), 128U * 31);
    EXPECT_EQ(t.barriers, 4U * 8);
}

TEST_F(CounterResult, PaddingTakesTheConflictsAway) {
    const Traffic t = counted([&] { KERNEL(transpose_by_tiles)(out_, inp_, 64, 1); });
    expect(t.shared_loads, 128, 128, 128, 16384, 16384);
    EXPECT_EQ(t.excess_wavefronts(), 0U);
}

// ---- atomics and barriers ---------------------------------------------------------------------------------------------

TEST_F(CounterResult, AtomicsOnOneAddressGoOneAfterAnother) {
    for (const int addresses : {1, 4, 32}) {
        const Traffic t = counted([&] { KERNEL(add_atomically)(out_, addresses); });
        expect(t.atomics, 1, addresses == 32 ? 4 : 1, 4, 128, 4 * static_cast<std::uint64_t>(addresses));
        EXPECT_EQ(t.atomic_passes, 32U / static_cast<unsigned>(addresses));
        EXPECT_EQ(t.atomics.lines, 1U);
        EXPECT_EQ(t.atomics.wavefronts, 1U);
        EXPECT_EQ(t.loads.requests + t.stores.requests, 0U);
    }
}

TEST_F(CounterResult, AtomicsOnSharedMemoryToo) {
    const Traffic t = counted([&] { KERNEL(add_atomically_shared)(out_, 2); });
    EXPECT_EQ(t.shared_atomics.requests, 1U);
    EXPECT_EQ(t.atomic_passes, 16U);
    EXPECT_EQ(t.shared_atomics.bytes_distinct, 8U);
    EXPECT_EQ(t.atomics.requests, 0U);
}

TEST_F(CounterResult, BarriersAreAWarps) {
    const Traffic t = counted([&] { KERNEL(meet)(out_, 96, 5); });
    EXPECT_EQ(t.barriers, 3U * 5);
    EXPECT_EQ(t.stores.requests, 3U);
}

TEST_F(CounterResult, AWarpThatWaitsForAnotherLetsItRun) {
    int* flag = buffer<int>("flag");
    for (std::uint64_t seed = 1; seed <= 4; seed++) {
        simt::set_seed(seed);
        ASSERT_EQ(cudaMemset(flag, 0, 4), cudaSuccess);
        const Traffic t = counted([&] { KERNEL(wait_for_a_warp)(out_, flag); });
        EXPECT_EQ(t.stores.threads, 64U);
        EXPECT_GE(t.atomics.threads, 64U);
    }
    simt::set_seed(1);
}

// ---- special functions ------------------------------------------------------------------------------------------------

struct Special {
    const char* name;
    int what;                               // evaluated() of special_functions.cu
    std::uint64_t evaluations, of_doubles;  // of a thread
    std::uint64_t calls;
};

class SpecialFunctions : public CounterResult, public testing::WithParamInterface<Special> {};

// 40 threads are two warps.
TEST_P(SpecialFunctions, AreCountedForEachThreadThatEvaluatesThem) {
    const Traffic t = counted([&] { SPECIAL(evaluate)(out_, inp_, GetParam().what); });
    EXPECT_EQ(t.special_functions, 40 * GetParam().evaluations);
    EXPECT_EQ(t.special_in_double, 40 * GetParam().of_doubles);
    EXPECT_EQ(t.special_requests, 2 * GetParam().calls);
    expect(t.stores, 2, 5, 5, 160, 160);
    expect(t.loads, 2, 5, 5, 160, 160);
}

INSTANTIATE_TEST_SUITE_P(CounterResult, SpecialFunctions,
                         testing::Values(Special{"Arithmetic", 0, 0, 0, 0}, Special{"Expf", 1, 1, 0, 1},
                                         Special{"Exponentials", 2, 7, 0, 7}, Special{"Logarithms", 3, 7, 0, 7},
                                         Special{"Roots", 4, 7, 0, 7}, Special{"Angles", 5, 7, 0, 7},
                                         Special{"Sincosf", 6, 2, 0, 1}, Special{"FastSincos", 7, 2, 0, 1},
                                         Special{"Others", 8, 7, 0, 7}, Special{"Doubles", 9, 4, 4, 4},
                                         Special{"DoublesBesideAFloat", 10, 3, 2, 3}, Special{"Halves", 11, 2, 0, 2},
                                         Special{"Constants", 12, 0, 0, 0}),
                         [](const auto& one) { return one.param.name; });

// g++ makes one call of both. The other call's results are stored as any others are.
TEST_F(CounterResult, ASineAndACosineOfOneNumberAreTwoSpecialFunctions) {
    const Traffic t = counted([&] { SPECIAL(evaluate_sine_and_cosine)(out_, inp_); });
    EXPECT_EQ(t.special_functions, 128U);
    expect(t.stores, 3, 12, 12, 384, 384);
}

TEST_F(CounterResult, SpecialFunctionsOfAPairAreTwo) {
    const Traffic t = counted([&] { SPECIAL(evaluate_pairs)(out_, inp_); });
    EXPECT_EQ(t.special_functions, 64U);
    EXPECT_EQ(t.special_in_double, 0U);
}

// Lane i evaluates i * times exponentials, 496 * times in all, which its warp makes in 31 * times calls; the second
// number is more than a trace holds.
TEST_F(CounterResult, SpecialFunctionsOfDivergentLanesAreTheirOwn) {
    for (const int times : {1, 20}) {
        const auto n = static_cast<std::uint64_t>(times);
        const Traffic t = counted([&] { SPECIAL(evaluate_in_a_ragged_loop)(out_, inp_, times); });
        EXPECT_EQ(t.special_functions, 496 * n + 16);
        EXPECT_EQ(t.special_requests, 31 * n + 1);
        expect(t.stores, 1, 4, 4, 128, 128);
    }
}

TEST_F(CounterResult, LanesThatEvaluateOnEitherSideOfABranchReadOnTogether) {
    const Traffic t = counted([&] { SPECIAL(evaluate_on_either_side)(out_, inp_); });
    expect(t.loads, 20, 80, 80, 2560, 2560);
    EXPECT_EQ(t.special_functions, 640U);
    EXPECT_EQ(t.special_requests, 40U);
}

// 5 steps in each lane of the 4 warps, and 2 in 4 threads, which combine what the warps have.
TEST_F(CounterResult, SpecialFunctionsOfAReductionsOperatorCount) {
    const Traffic t = counted([&] { SPECIAL(evaluate_in_a_reduction)(out_, inp_); });
    EXPECT_EQ(t.special_functions, 128U * 5 + 4 * 2);
    EXPECT_EQ(t.special_requests, 4U * 5 + 2);
}

TEST_F(CounterResult, SpecialFunctionsOfTheHostAreNot) {
    const Traffic t = counted([&] { EXPECT_GT(SPECIAL(evaluate_beside_the_host)(out_, inp_, 3), 20.0F); });
    EXPECT_EQ(t.special_functions, 3U * 64);
}

TEST_F(CounterResult, SpecialFunctionsOfTheBlocksThatRan) {
    simt::sample_blocks(simt::Sampling{.others = 2});
    const Traffic t = counted([&] { SPECIAL(evaluate_beside_the_host)(out_, inp_, 100); });
    EXPECT_EQ(t.special_functions, 4U * 64);
}

TEST_F(CounterResult, SpecialFunctionsHaveLinesAndNames) {
    counted([&] { SPECIAL(evaluate_in_a_ragged_loop)(out_, inp_, 1); });
    const simt::LaunchTraffic& kernel = simt::traffic_of_kernels().at(0);
    std::vector<std::uint64_t> by_line;
    for (const simt::LineTraffic& line : kernel.lines) {
        EXPECT_EQ(line.line.file, kSpecialFile);
        if (line.traffic.special_functions != 0) {
            by_line.push_back(line.traffic.special_functions);
        }
    }
    EXPECT_EQ(by_line, (std::vector<std::uint64_t>{496, 16}));
    const std::vector<simt::Metric> metrics = simt::metrics_of(kernel.total);
    EXPECT_TRUE(std::any_of(metrics.begin(), metrics.end(), [](const simt::Metric& metric) {
        return metric.name == "special functions" && metric.value == 512;
    }));
    const std::string text = simt::traffic_as_text(simt::traffic_of_kernels());
    EXPECT_NE(text.find("   special\n"), std::string::npos) << text;
    EXPECT_NE(text.find("       496\n"), std::string::npos) << text;
}

// ---- launches, lines, blocks ------------------------------------------------------------------------------------------

TEST_F(CounterResult, ALineKnowsItsPlaceItsShareAndItsBuffers) {
    counted([&] { KERNEL(transpose_directly)(out_, inp_, 64); });
    ASSERT_EQ(simt::traffic_of_launches().size(), 1U);
    const simt::LaunchTraffic& launch = simt::traffic_of_launches()[0];
    EXPECT_EQ(launch.kernel, "transpose_kernel");
    EXPECT_EQ(launch.grid.y, 8U);
    EXPECT_EQ(launch.block.x, 32U);
    EXPECT_EQ(launch.line.file, kFile);
    ASSERT_EQ(launch.lines.size(), 1U);
    const simt::LineTraffic& line = launch.lines[0];
    EXPECT_EQ(line.line.file, kFile);
    EXPECT_EQ(line.traffic.bytes_moved(), 32U * (512 + 4096));
    std::vector<std::string> buffers = line.buffers;
    std::sort(buffers.begin(), buffers.end());
    EXPECT_EQ(buffers, (std::vector<std::string>{"inp", "out"}));
    EXPECT_EQ(launch.costliest(), &line);
}

TEST_F(CounterResult, TheCostliestLineMovesMostBytes) {
    counted([&] { KERNEL(transpose_by_tiles)(out_, inp_, 64, 0); });
    counted([&] { KERNEL(sum_rows)(out_, inp_, 64); });
    const simt::LaunchTraffic all = simt::traffic_in_all();
    ASSERT_NE(all.costliest(), nullptr);
    EXPECT_EQ(all.costliest()->traffic.loads.sectors, 64U * 32);
    EXPECT_EQ(all.lines.size(), 2U);
}

TEST_F(CounterResult, TheLaunchesOfAKernelAreAddedUp) {
    counted([&] {
        KERNEL(load_strided)(out_, inp_, 1, 32, 1, 0);
        KERNEL(store_strided)(out_, 1, 32, 1, 0);
        KERNEL(load_strided)(out_, inp_, 3, 32, 2, 0);
    });
    EXPECT_EQ(simt::traffic_of_launches().size(), 3U);
    ASSERT_EQ(simt::traffic_of_kernels().size(), 2U);
    const simt::LaunchTraffic& loads = simt::traffic_of_kernels()[0];
    EXPECT_EQ(loads.launches, 2U);
    EXPECT_EQ(loads.blocks, 4U);
    EXPECT_EQ(loads.total.loads.sectors, 4U + 3 * 8);
}

TEST_F(CounterResult, ALaunchKnowsTheSharedMemoryOfItsBlocks) {
    counted([&] {
        KERNEL(use_two_arrays)(out_, 32);
        KERNEL(use_two_arrays)(out_, 1024);
        KERNEL(load_strided)(out_, inp_, 1, 32, 1, 0);
    });
    const std::vector<simt::LaunchTraffic>& launches = simt::traffic_of_launches();
    ASSERT_EQ(launches.size(), 3U);
    EXPECT_EQ(launches[0].shared_bytes, 4U * (96 + 32));
    EXPECT_EQ(launches[1].shared_bytes, 4U * (96 + 1024));
    EXPECT_EQ(launches[2].shared_bytes, 0U);
    EXPECT_EQ(simt::traffic_of_kernels().at(0).shared_bytes, 4U * (96 + 1024)) << "the most of its launches";
    const std::string json = simt::traffic_as_json(launches, {});
    EXPECT_NE(json.find("\"shared_bytes\": 512"), std::string::npos) << json;
}

TEST_F(CounterResult, OfASampledLaunchOnlyTheBlocksThatRan) {
    simt::sample_blocks(simt::Sampling{.others = 2});
    counted([&] { KERNEL(load_strided)(out_, inp_, 100, 32, 1, 0); });
    const simt::LaunchTraffic& launch = simt::traffic_of_launches().at(0);
    EXPECT_EQ(launch.blocks, 100U);
    EXPECT_EQ(launch.blocks_run, 4U);
    EXPECT_EQ(launch.total.loads.requests, 4U);
    EXPECT_NE(simt::traffic_as_text(simt::traffic_of_kernels()).find("only 4 of 100 blocks"), std::string::npos);
}

TEST_F(CounterResult, ApartFromWhatIsCountedAroundItAndThereToo) {
    const Traffic outer = counted([&] {
        KERNEL(load_strided)(out_, inp_, 2, 32, 1, 0);
        const simt::CountingTraffic inner;
        EXPECT_EQ(simt::traffic_in_all().total.global_requests(), 0U);
        KERNEL(load_strided)(out_, inp_, 3, 32, 1, 0);
        EXPECT_EQ(simt::traffic_in_all().total.loads.requests, 3U);
    });
    EXPECT_EQ(outer.loads.requests, 5U);
    EXPECT_EQ(simt::traffic_of_launches().size(), 2U);
    ASSERT_EQ(simt::traffic_of_kernels().size(), 1U);
    EXPECT_EQ(simt::traffic_of_kernels()[0].launches, 2U);
    KERNEL(load_strided)(out_, inp_, 1, 32, 1, 0);
    EXPECT_EQ(simt::traffic_in_all().total.loads.requests, 6U) << "the counting goes on";
}

TEST_F(CounterResult, NothingWhereNobodyAsksForIt) {
    KERNEL(load_strided)(out_, inp_, 1, 32, 1, 0);
    EXPECT_TRUE(simt::traffic_of_launches().empty());
    EXPECT_EQ(simt::traffic_in_all().total.global_requests(), 0U);
}

TEST_F(CounterResult, OtherChecksStayWhileCounting) {
    void* unwritten = nullptr;
    ASSERT_EQ(cudaMalloc(&unwritten, 128), cudaSuccess);
    const Traffic t = counted([&] { KERNEL(read_unwritten)(out_, static_cast<float*>(unwritten)); });
    ASSERT_EQ(simt::findings().size(), 1U);
    EXPECT_EQ(simt::findings()[0].kind, simt::Kind::uninitialised);
    expect(t.loads, 1, 4, 4, 128, 128);
    simt::forget_findings();
    cudaFree(unwritten);
}

TEST_F(CounterResult, MetricsHaveNsightComputesNames) {
    const Traffic t = counted([&] { KERNEL(transpose_by_tiles)(out_, inp_, 64, 0); });
    const std::vector<simt::Metric> metrics = simt::metrics_of(t);
    const auto value = [&](const std::string& name) {
        const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const auto& m) { return m.name == name; });
        return found == metrics.end() ? 0 : found->value;
    };
    EXPECT_EQ(value("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 512U);
    EXPECT_EQ(value("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"), 128U);
    EXPECT_EQ(value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 4096U);
    EXPECT_EQ(value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), 3968U);
    EXPECT_EQ(value("derived__memory_l1_wavefronts_shared_excessive"), 3968U);
    EXPECT_EQ(value("threads in shared requests, ld"), 32U * 128);
    EXPECT_EQ(value("l1 lines of global requests, ld"), 128U);
    EXPECT_EQ(value("l1 wavefronts of global requests, st"), 128U);
    EXPECT_EQ(value("lsu instructions"), 4U * 128);
    EXPECT_EQ(value("l1 quarter-cycles, 32 lanes"), 4U * (3 * 128 + 4096));
    EXPECT_EQ(value("l1 quarter-cycles, 16 lanes"), 8U * 3 * 128 + 4 * 4096);
}

// ---- a program of its own ---------------------------------------------------------------------------------------------

std::string run(const std::string& environment) {
    const checker::Finished program = shell(environment + " build/tests/simt/kernels/correct/tiled_matmul");
    EXPECT_EQ(program.status, 0);
    return program.output;
}

TEST(AProgram, PrintsWhatItCountedWhereItIsAsked) {
    const std::string text = run("SIMT_TRAFFIC=1");
    for (const char* part : {"simt: traffic of ", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors/req",
                             "L1 and L2 are not simulated"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
    EXPECT_EQ(run("").find("traffic"), std::string::npos);
}

TEST(AProgram, WritesJsonWhereItIsAsked) {
    const std::string path = "build/tests/simt/traffic.json";
    std::remove(path.c_str());
    EXPECT_EQ(run("SIMT_TRAFFIC=" + path).find("sectors"), std::string::npos);
    std::ifstream in(path);
    const std::string json{std::istreambuf_iterator<char>(in), {}};
    for (const char* part : {"\"kernels\": [", "\"launches\": [", "\"lines\": [", "\"metrics\": {",
                             "\"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum\": "}) {
        EXPECT_NE(json.find(part), std::string::npos) << part << " in\n" << json;
    }
}

TEST(AProgram, SaysWhereTheFileCannotBeWritten) {
    EXPECT_NE(run("SIMT_TRAFFIC=/nowhere/t.json").find("SIMT_TRAFFIC=/nowhere/t.json: it cannot be written"),
              std::string::npos);
}

TEST(AProgram, SaysThatNothingIsCountedWithoutTheChecks) {
    EXPECT_NE(run("SIMT_TRAFFIC=1 SIMT_CHECK=off").find("SIMT_CHECK=off"), std::string::npos);
}

}  // namespace

TEST(AProgram, PrintsWhatCardsCouldDoWhereItIsAsked) {
    const std::string text = run("SIMT_ESTIMATE=H100,T4");
    for (const char* part : {"H100-SXM", "T4", "bound by", "if that were lifted"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
}

TEST(AProgram, WritesTheEstimateIntoAFile) {
    const std::string path = "build/tests/simt/estimate.json";
    std::filesystem::remove(path);
    EXPECT_EQ(run("SIMT_ESTIMATE=H100:" + path).find("bound by"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(AProgram, SaysWhichCardsItKnows) {
    EXPECT_NE(run("SIMT_ESTIMATE=H300").find("simt: SIMT_ESTIMATE=H300: the card H300 is not known; there is H100-SXM"),
              std::string::npos);
}

TEST(AProgram, SaysThatAFileOfSassIsMissing) {
    EXPECT_NE(run("SIMT_ESTIMATE=T4 SIMT_SASS=/nowhere/x.json").find("/nowhere/x.json: cannot be read"),
              std::string::npos);
}
