// SPDX-License-Identifier: MIT
//
// Some blocks of a launch that is too large to run whole: [M, N] with M * N > 2^31, the logits of 42,735 positions.
#include "checker/simt/runtime/streams/sampling.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/report/findings.h"

namespace {

using Fill = void (*)(float* out, int M, int N);

// Calls it, and waits for what it has launched.
std::function<void(float*, int, int)> function(const char* name) {
    static void* const object = dlopen("build/tests/simt/objects/large.so", RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return [call = reinterpret_cast<Fill>(dlsym(object, name))](float* out, int M, int N) {
        call(out, M, N);
        static_cast<void>(cudaDeviceSynchronize());
    };
}

class SampledBlocks : public testing::Test {
  protected:
    static constexpr long kM = 42735, kN = 50257, kBlock = 256;
    static_assert(kM * kN > 1L << 31);

    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        void* memory = nullptr;
        ASSERT_EQ(cudaMalloc(&memory, kM * kN * sizeof(float)), cudaSuccess);
        out_ = static_cast<float*>(memory);
        simt::name_buffer(out_, "out", {{"M", "m", kM}, {"N", "n", kN}}, sizeof(float));
    }
    void TearDown() override {
        simt::sample_blocks(std::nullopt);
        cudaFree(out_);
    }

    float at(long m, long n) const {
        const simt::OpenMemory open;
        return out_[m * kN + n];
    }

    float* out_ = nullptr;
};

TEST_F(SampledBlocks, TheFirstTheLastAndSomeOthersRun) {
    simt::sample_blocks(simt::Sampling{.others = 5, .seed = 3});
    function("fill_rows")(out_, kM, kN);
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_TRUE(simt::findings().empty());
    ASSERT_EQ(simt::sampled_launches().size(), 1U);
    const simt::SampledLaunch& launch = simt::sampled_launches()[0];
    EXPECT_EQ(launch.kernel, "fill_rows_kernel");
    ASSERT_EQ(launch.blocks.size(), 7U);
    EXPECT_EQ(launch.blocks.front(), 0U);
    EXPECT_EQ(launch.index(launch.blocks.back()).x, (kN - 1) / kBlock);
    EXPECT_EQ(launch.index(launch.blocks.back()).y, kM - 1U);
    for (const std::uint64_t block : launch.blocks) {
        const dim3 index = launch.index(block);
        const long n = index.x * kBlock;
        EXPECT_EQ(at(index.y, n), static_cast<float>(index.y) + static_cast<float>(n) / kN);
    }
    EXPECT_EQ(at(kM - 1, kN - 1), kM - 1 + static_cast<float>(kN - 1) / kN);
}

TEST_F(SampledBlocks, WhatTheyWroteIsListedAndNothingElse) {
    EXPECT_EQ(simt::written_elements(out_, sizeof(float), 1000).all, 0U);
    simt::sample_blocks(simt::Sampling{.others = 5, .seed = 3});
    function("fill_rows")(out_, kM, kN);
    std::vector<std::size_t> expected;
    for (const std::uint64_t block : simt::sampled_launches().at(0).blocks) {
        const dim3 index = simt::sampled_launches()[0].index(block);
        for (long n = index.x * kBlock; n < std::min(kN, (index.x + 1L) * kBlock); n++) {
            expected.push_back(static_cast<std::size_t>(index.y * kN + n));
        }
    }
    const simt::WrittenElements whole = simt::written_elements(out_, sizeof(float), 100'000);
    EXPECT_EQ(whole.some, expected);
    EXPECT_EQ(whole.all, expected.size());
    EXPECT_TRUE(simt::written_elements(out_ + 1, sizeof(float), 10).some.empty());

    // The last block's are those with the largest indices: they are never left out.
    const simt::WrittenElements few = simt::written_elements(out_, sizeof(float), 10);
    EXPECT_EQ(few.all, expected.size());
    ASSERT_EQ(few.some.size(), 10U);
    for (std::size_t i = 0; i < 10; i++) {
        const std::size_t tenth = expected.size() * i / 10, next = expected.size() * (i + 1) / 10;
        EXPECT_GE(few.some[i], expected[tenth]);
        EXPECT_LE(few.some[i], expected[next - 1]);
    }
    EXPECT_EQ(few.some.back(), expected.back());
}

TEST_F(SampledBlocks, ThatDoAllTheWorkAreCutShort) {
    simt::sample_blocks(simt::Sampling{.others = 5, .seconds = 0.4});
    function("fill_by_few_blocks")(out_, kM, kN);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_TRUE(simt::findings().empty());
    EXPECT_EQ(simt::sampled_launches().at(0).cut, 7U);
    const simt::WrittenElements written = simt::written_elements(out_, sizeof(float), 1000);
    ASSERT_GT(written.all, 0U);
    for (const std::size_t element : written.some) {
        EXPECT_EQ(at(0, static_cast<long>(element)), static_cast<float>(element / kN) + static_cast<float>(element % kN) / kN);
    }
}

TEST_F(SampledBlocks, TheSameSeedGivesTheSameBlocksAndAnotherGivesOthers) {
    std::vector<std::vector<std::uint64_t>> blocks;
    for (const std::uint64_t seed : {1, 1, 2}) {
        simt::sample_blocks(simt::Sampling{.others = 8, .seed = seed});
        function("fill_rows")(out_, kM, kN);
        blocks.push_back(simt::sampled_launches().at(0).blocks);
    }
    EXPECT_EQ(blocks[0], blocks[1]);
    EXPECT_NE(blocks[0], blocks[2]);
}

TEST_F(SampledBlocks, ALaunchOfNoMoreBlocksRunsWhole) {
    simt::sample_blocks(simt::Sampling{.others = 8});
    function("fill_rows")(out_, 2, 4 * kBlock);
    EXPECT_EQ(simt::sampled_launches().at(0).blocks, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    function("fill_rows")(out_, 1, 1);
    EXPECT_EQ(simt::sampled_launches().at(1).blocks, (std::vector<std::uint64_t>{0}));
}

// The last one: its error is sticky.
TEST_F(SampledBlocks, AnIndexThatOverflowsIsFound) {
    simt::sample_blocks(simt::Sampling{});
    function("fill_rows_by_int")(out_, kM, kN);
    const std::vector<simt::DeviceFinding> findings = simt::findings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, simt::Kind::out_of_bounds);
    EXPECT_EQ(findings[0].kernel, "fill_rows_by_int_kernel");
    EXPECT_EQ(findings[0].line.file, "checker/simt/tests/objects/large.cu");
    EXPECT_NE(findings[0].text.find("before out (M=42735, N=50257)"), std::string::npos) << findings[0].text;
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
}

}  // namespace
