// SPDX-License-Identifier: MIT
//
// What the search for races keeps of large buffers: few bytes, and all that it knows.
#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/tests/objects/pages.h"

namespace {

template <class Function>
auto function(const char* name, Function* /*its type*/) {
    static void* const object = dlopen("build/tests/simt/objects/pages.so", RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return [call = reinterpret_cast<Function*>(dlsym(object, name))](auto... arguments) {
        call(arguments...);
        static_cast<void>(cudaDeviceSynchronize());  // what it has launched
    };
}
#define FUNCTION(name) function(#name, static_cast<decltype(name)*>(nullptr))

class LargeBuffers : public testing::Test {
  protected:
    static constexpr int kWordsOfPage = 1024;
    static constexpr int kElements = 512 * kWordsOfPage;

    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        void* memory[2] = {};
        for (void*& pointer : memory) {
            ASSERT_EQ(cudaMalloc(&pointer, kElements * sizeof(float)), cudaSuccess);
            ASSERT_EQ(cudaMemset(pointer, 0, kElements * sizeof(float)), cudaSuccess);
        }
        out_ = static_cast<float*>(memory[0]);
        inp_ = static_cast<float*>(memory[1]);
    }
    void TearDown() override {
        simt::Races::instance().keep_at_most_open(simt::Races::kMostOpen);
        cudaFree(out_);
        cudaFree(inp_);
    }

    // The races of a launch, each with both sides.
    std::vector<std::string> races_with(std::size_t open_pages, int writer, int one) const {
        simt::forget_findings();
        simt::Races::instance().keep_at_most_open(open_pages);
        FUNCTION(copy_and_write_one)(out_, inp_, kElements / 8, writer, one);
        std::vector<std::string> races;
        for (const simt::DeviceFinding& finding : simt::findings()) {
            std::string text = simt::name_of(finding.kind);
            for (const std::string& detail : finding.details) { text += '\n' + detail; }
            races.push_back(text);
        }
        return races;
    }

    float* out_ = nullptr;
    float* inp_ = nullptr;
};

TEST_F(LargeBuffers, CostLittleWhereEachWordIsReadOrWrittenOnce) {
    simt::Races::instance().keep_at_most_open(16);
    FUNCTION(copy_floats)(out_, inp_, kElements);
    EXPECT_TRUE(simt::findings().empty());
    // Cells would take 8 bytes for each word that is read, and 16 for each that is written.
    EXPECT_LT(simt::Races::instance().shadow_bytes(), kElements * 24 / 10);
}

TEST_F(LargeBuffers, AreKnownAsExactlyAsSmallOnes) {
    for (const int one : {5, 1024, 5000, 40001, 65535}) {
        for (const int writer : {0, 125, 255}) {
            const std::vector<std::string> packed = races_with(2, writer, one);
            ASSERT_EQ(packed.size(), 1U) << writer << " writes " << one;
            EXPECT_EQ(packed, races_with(simt::Races::kMostOpen, writer, one));
            const std::string reader = fmt::format("reads: block ({}, 0, 0), thread ({}, 0, 0)", one / 256, one % 256);
            const std::string wrote = fmt::format("writes: block ({}, 0, 0), thread (0, 0, 0)", writer);
            EXPECT_NE(packed[0].find(reader), std::string::npos) << packed[0];
            EXPECT_NE(packed[0].find(wrote), std::string::npos) << packed[0];
        }
    }
}

TEST_F(LargeBuffers, AreForgottenWithTheirLaunch) {
    simt::Races::instance().keep_at_most_open(2);
    FUNCTION(copy_floats)(out_, inp_, kElements / 8);
    FUNCTION(copy_floats)(inp_, out_, kElements / 8);
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(LargeBuffers, MayBeReadInHalvesOfWords) {
    simt::Races::instance().keep_at_most_open(2);
    FUNCTION(copy_floats)(out_, inp_, kElements / 8);
    FUNCTION(sum_halves)(out_, reinterpret_cast<const short*>(inp_), kElements / 8);
    FUNCTION(copy_floats)(out_, inp_, kElements / 8);
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(LargeBuffers, AreLeftAloneWhereFewOfTheirWordsAreReadAgainAndAgain) {
    simt::Races::instance().keep_at_most_open(2);
    FUNCTION(read_one_of_each)(out_, inp_, kElements, kWordsOfPage, 10);
    EXPECT_TRUE(simt::findings().empty());
    EXPECT_GT(simt::Races::instance().shadow_bytes(), kElements * 8 * 3 / 4);
}

}  // namespace
