// SPDX-License-Identifier: MIT
//
// Floating-point operations on kernels whose number can be worked out by hand (objects/arithmetic.cu), and the assembly
// text that counts them.
#include "checker/simt/runtime/counting/arithmetic.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/simt/driver/arithmetic.h"
#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/counting/traffic.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/tests/objects/arithmetic.h"

namespace {

using simt::ArithmeticTraffic;
using simt::LaunchTraffic;

constexpr std::size_t kFloats = 1U << 15;
constexpr const char* kFile = "checker/simt/tests/objects/arithmetic.cu";

void* object(const char* name) {
    void* const loaded = dlopen(fmt::format("build/tests/simt/objects/{}.so", name).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return loaded;
}
template <class Function>
Function* function(const char* name, bool counting = true) {
    static void* const with = object("arithmetic");
    static void* const without = object("without_arithmetic");
    return reinterpret_cast<Function*>(dlsym(counting ? with : without, name));
}
#define KERNEL(name) function<decltype(name)>(#name)
#define KERNEL_WITHOUT(name) function<decltype(name)>(#name, false)

// The line of the file that ends with this comment.
int line_of(const std::string& comment) {
    std::ifstream in(kFile);
    int number = 1;
    for (std::string line; std::getline(in, line); number++) {
        if (line.ends_with("// a line: " + comment)) {
            return number;
        }
    }
    throw std::runtime_error("no line " + comment);
}

class Arithmetic : public testing::Test {
  protected:
    void SetUp() override {
        if (const char* why = simt::why_no_arithmetic()) {
            GTEST_SKIP() << why;
        }
        simt::report_at_exit(false);
        simt::forget_findings();
        out_ = buffer(0.0F);
        inp_ = buffer(1.0F);
    }
    void TearDown() override {
        EXPECT_TRUE(simt::findings().empty());
        counting_.reset();
        for (float* memory : buffers_) { cudaFree(memory); }
        EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    }

    float* buffer(float value) {
        void* memory = nullptr;
        EXPECT_EQ(cudaMalloc(&memory, kFloats * sizeof(float)), cudaSuccess);
        const std::vector<float> values(kFloats, value);
        EXPECT_EQ(cudaMemcpy(memory, values.data(), kFloats * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
        buffers_.push_back(static_cast<float*>(memory));
        return buffers_.back();
    }
    std::vector<float> values(const float* memory, std::size_t count) {
        std::vector<float> values(count);
        EXPECT_EQ(cudaMemcpy(values.data(), memory, count * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
        return values;
    }

    LaunchTraffic launched(const std::function<void()>& work) {
        counting_.emplace();
        work();
        return simt::traffic_in_all();
    }
    ArithmeticTraffic counted(const std::function<void()>& work) { return launched(work).total.arithmetic; }

    float* out_ = nullptr;
    float* inp_ = nullptr;
    std::vector<float*> buffers_;
    std::optional<simt::CountingTraffic> counting_;
};

void expect_fused(const ArithmeticTraffic& counts, std::uint64_t threads, std::uint64_t requests) {
    EXPECT_EQ(counts.fused, threads);
    EXPECT_EQ(counts.fused_requests, requests);
}
void expect_other(const ArithmeticTraffic& counts, std::uint64_t threads, std::uint64_t requests) {
    EXPECT_EQ(counts.other, threads);
    EXPECT_EQ(counts.other_requests, requests);
}
void expect_in_double(const ArithmeticTraffic& counts, std::uint64_t threads, std::uint64_t requests) {
    EXPECT_EQ(counts.in_double, threads);
    EXPECT_EQ(counts.in_double_requests, requests);
}

// ---- products ---------------------------------------------------------------------------------------------------------

TEST_F(Arithmetic, ADotProductOfNNumbersIsNMultiplyAdds) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(dot)(out_, inp_, 100); });
    expect_fused(counts, 64 * 100, 2 * 100);
    expect_other(counts, 0, 0);
    expect_in_double(counts, 0, 0);
}

TEST_F(Arithmetic, ANaiveProductOfMatricesIsNCubedMultiplyAdds) {
    expect_fused(counted([&] { KERNEL(naive_product)(out_, inp_, inp_, 64); }), 64 * 64 * 64, 64 * 64 * 64 / 32);
}

TEST_F(Arithmetic, ATiledProductOfMatricesIsAsMany) {
    expect_fused(counted([&] { KERNEL(tiled_product)(out_, inp_, inp_, 64); }), 64 * 64 * 64, 64 * 64 * 64 / 32);
}

TEST_F(Arithmetic, AProductWithItsSumsInRegistersIsAsMany) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(register_tiled_product)(out_, inp_, inp_, 64); });
    expect_fused(counts, 64 * 64 * 64, 64 * 64 * 64 / 32);
    expect_other(counts, 0, 0);
}

TEST_F(Arithmetic, AnArrayWhoseIndicesAreCheckedTakesNoMore) {
    expect_fused(counted([&] { KERNEL(checked_indices)(out_, inp_, 50); }), 32 * 50, 50);
}

// ---- ops ------------------------------------------------------------------------------------------------------------------

TEST_F(Arithmetic, ALayernormTakesWhatItsFormulaDoes) {
    constexpr std::uint64_t kRows = 96, kC = 48;  // the last warp has no row
    const ArithmeticTraffic counts =
        counted([&] { KERNEL(normalise_rows)
                      (out_, inp_, buffer(2.0F), buffer(3.0F), kRows, kC); });
    expect_fused(counts, kRows * 2 * kC, kRows / 32 * 2 * kC);
    expect_other(counts, kRows * (4 * kC + 3), kRows / 32 * (4 * kC + 3));
    expect_in_double(counts, 0, 0);
}

TEST_F(Arithmetic, AGeluWithLiteralsOfFloatsTakesWhatItsFormulaDoes) {
    const LaunchTraffic launch = launched([&] { KERNEL(gelu_with_literals)(out_, inp_, 250); });
    expect_fused(launch.total.arithmetic, 250, 8);
    expect_other(launch.total.arithmetic, 250 * 6, 8 * 6);
    expect_in_double(launch.total.arithmetic, 0, 0);
    EXPECT_EQ(launch.total.special_functions, 250U);
}

// ---- warps ------------------------------------------------------------------------------------------------------------------

TEST_F(Arithmetic, ARaggedLoopTakesAsManyRequestsAsItsLongestLane) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(add_raggedly)(out_, inp_, 3); });
    expect_other(counts, 3 * 31 * 32 / 2, 3 * 31);
}

TEST_F(Arithmetic, ARaggedLoopWithoutMemoryTakesThemToo) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(square_raggedly)(out_, inp_, 40); });
    expect_other(counts, 40 * 31 * 32 / 2, 40 * 31);
}

TEST_F(Arithmetic, EitherSideOfABranchIsARequestOfItsOwn) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(go_either_way)(out_, inp_); });
    expect_fused(counts, 16, 1);
    expect_other(counts, 16, 1);
}

TEST_F(Arithmetic, AShuffledSumTakesAnAdditionAStep) {
    expect_other(counted([&] { KERNEL(reduced_by_a_tile)(out_, inp_); }), 32 * 5, 5);
}

// ---- places -----------------------------------------------------------------------------------------------------------------

TEST_F(Arithmetic, TwoTemplatesOnOneLineAreAddedUpThere) {
    const LaunchTraffic launch = launched([&] { KERNEL(two_sizes_on_one_line)(out_, inp_, 10); });
    expect_other(launch.total.arithmetic, 32 * 5 * (1 + 3), 5 * (1 + 3));
    const auto line = std::ranges::find_if(launch.lines, [](const simt::LineTraffic& one) {
        return one.line.file == kFile && one.line.line == line_of("squared");
    });
    ASSERT_NE(line, launch.lines.end());
    expect_other(line->traffic.arithmetic, 32 * 5 * (1 + 3), 5 * (1 + 3));
}

TEST_F(Arithmetic, ALineHasItsAccessesAndItsArithmetic) {
    const LaunchTraffic launch = launched([&] { KERNEL(dot)(out_, inp_, 7); });
    const auto line = std::ranges::find_if(
        launch.lines, [](const simt::LineTraffic& one) { return one.line.line == line_of("dot"); });
    ASSERT_NE(line, launch.lines.end());
    expect_fused(line->traffic.arithmetic, 64 * 7, 2 * 7);
    EXPECT_EQ(line->traffic.loads.threads, 64U * (1 + 7));  // a[threadIdx.x] once
}

// Half of the lanes go one call deeper, and come back to the others.
TEST_F(Arithmetic, RecursionIsCountedAtEachDepth) {
    expect_other(counted([&] { KERNEL(by_recursion)(out_, inp_, 4); }), 16 * 4 + 16 * 5, 5);
}

TEST_F(Arithmetic, AFunctionThatIsCalledIsCountedAtEachCall) {
    expect_other(counted([&] { KERNEL(by_a_function_that_is_called)(out_, inp_); }), 32 * 300, 300);
}

// ---- what is counted as what ----------------------------------------------------------------------------------------------

TEST_F(Arithmetic, DoublesAreApart) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(of_doubles)(out_, inp_, 20); });
    expect_fused(counts, 0, 0);
    expect_other(counts, 0, 0);
    expect_in_double(counts, 32 * (2 * 20 + 1), 2 * 20 + 1);
}

TEST_F(Arithmetic, ConversionsAndSignsAreNotCounted) {
    const LaunchTraffic launch = launched([&] { KERNEL(conversions_alone)(out_, inp_); });
    expect_other(launch.total.arithmetic, 0, 0);
    expect_in_double(launch.total.arithmetic, 0, 0);
    EXPECT_TRUE(launch.arithmetic_counted);
}

TEST_F(Arithmetic, FunctionsThatAreNeverFusedAreTwoOperations) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(unfused)(out_, inp_); });
    expect_fused(counts, 0, 0);
    expect_other(counts, 32 * 2, 2);
}

TEST_F(Arithmetic, MultiplyAddsMayBeWrittenOutOrNegated) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(fused_in_three_ways)(out_, inp_); });
    expect_fused(counts, 32 * 3, 3);
    expect_other(counts, 0, 0);
}

TEST_F(Arithmetic, MinimaComparisonsAndQuotientsAreOtherOperations) {
    expect_other(counted([&] { KERNEL(comparisons_and_quotients)(out_, inp_); }), 32 * 4, 4);
}

TEST_F(Arithmetic, NumbersOf16BitsAreNotCounted) {
    const ArithmeticTraffic counts = counted([&] { KERNEL(of_halves)(out_, inp_); });
    expect_fused(counts, 0, 0);
    expect_other(counts, 32, 1);  // the product of floats
    expect_in_double(counts, 0, 0);
}

TEST_F(Arithmetic, WhatASpecialFunctionIsMadeOfIsNotCounted) {
    const LaunchTraffic launch = launched([&] { KERNEL(special_functions_alone)(out_, inp_); });
    EXPECT_EQ(launch.total.special_functions, 96U);
    expect_other(launch.total.arithmetic, 0, 0);
    expect_in_double(launch.total.arithmetic, 0, 0);
}

TEST_F(Arithmetic, WhatTheHostComputesIsNotCounted) {
    expect_other(counted([&] { EXPECT_GT(KERNEL(beside_the_host)(out_, inp_, 3), 0.0F); }), 3 * 64, 6);
}

// ---- nothing else changes -------------------------------------------------------------------------------------------------

TEST_F(Arithmetic, RegistersAndFlagsAreAsIfNothingWereCounted) {
    for (int i = 0; i < 12; i++) {
        const float value = 0.25F * static_cast<float>(i);
        ASSERT_EQ(cudaMemcpy(inp_ + i, &value, sizeof value, cudaMemcpyHostToDevice), cudaSuccess);
    }
    KERNEL_WITHOUT(with_many_values_alive)(out_, inp_, 200);
    const std::vector<float> expected = values(out_, 32);
    counted([&] { KERNEL(with_many_values_alive)(out_, inp_, 200); });
    EXPECT_EQ(values(out_, 32), expected);
    KERNEL(with_many_values_alive)(out_, inp_, 200);
    EXPECT_EQ(values(out_, 32), expected);
}

TEST_F(Arithmetic, AccessesAreCountedAsWithoutIt) {
    const auto metrics = [&](bool counting) {
        const LaunchTraffic launch = launched([&] {
            function<decltype(tiled_product)>("tiled_product", counting)(out_, inp_, inp_, 64);
            function<decltype(normalise_rows)>("normalise_rows", counting)(out_, inp_, inp_, inp_, 96, 48);
            function<decltype(add_raggedly)>("add_raggedly", counting)(out_, inp_, 3);
        });
        simt::Traffic traffic = launch.total;
        traffic.arithmetic = {};
        std::vector<std::string> lines;
        for (const simt::Metric& metric : simt::metrics_of(traffic)) {
            lines.push_back(fmt::format("{} {}", metric.name, metric.value));
        }
        return lines;
    };
    EXPECT_EQ(metrics(true), metrics(false));
}

TEST_F(Arithmetic, AKernelThatWasNotCompiledForItSaysSo) {
    const LaunchTraffic without = launched([&] { KERNEL_WITHOUT(dot)(out_, inp_, 10); });
    EXPECT_FALSE(without.arithmetic_counted);
    EXPECT_EQ(without.total.arithmetic.fused, 0U);
    const std::string json = simt::traffic_as_json(simt::traffic_of_launches(), simt::traffic_of_kernels());
    EXPECT_NE(json.find("\"arithmetic_counted\": false"), std::string::npos) << json;
}

TEST_F(Arithmetic, AKernelWithoutAnyHasNoneThatWasCounted) {
    const LaunchTraffic launch = launched([&] { KERNEL(copied)(out_, inp_); });
    EXPECT_TRUE(launch.arithmetic_counted);
    expect_other(launch.total.arithmetic, 0, 0);
    expect_fused(launch.total.arithmetic, 0, 0);
}

TEST_F(Arithmetic, TogetherWithAKernelThatWasNotItIsNotCounted) {
    const LaunchTraffic both = launched([&] {
        KERNEL(copied)(out_, inp_);
        KERNEL_WITHOUT(copied)(out_, inp_);
    });
    EXPECT_FALSE(both.arithmetic_counted);
}

TEST_F(Arithmetic, EachLaunchAndLineHasItInJson) {
    launched([&] { KERNEL(dot)(out_, inp_, 10); });
    const std::string json = simt::traffic_as_json(simt::traffic_of_launches(), simt::traffic_of_kernels());
    EXPECT_NE(json.find("\"arithmetic_counted\": true"), std::string::npos) << json;
    std::size_t found = 0;
    for (std::size_t at = json.find("\"fused multiply-adds\": 640"); at != std::string::npos;
         at = json.find("\"fused multiply-adds\": 640", at + 1)) {
        found++;
    }
    EXPECT_EQ(found, 4U) << json;  // a kernel and a launch, each in all and by line
}

// ---- the text -------------------------------------------------------------------------------------------------------------

std::size_t calls_in(const std::string& text) {
    std::size_t calls = 0;
    for (std::size_t at = text.find("simt_arithmetic@PLT"); at != std::string::npos;
         at = text.find("simt_arithmetic@PLT", at + 1)) {
        calls++;
    }
    return calls;
}

TEST(CountedText, WhatHasNoArithmeticIsUnchanged) {
    const std::string text = "\t.text\nf:\n\tmovl\t%edi, %eax\n\taddl\t$1, %eax\n\tmovss\t%xmm0, (%rdi)\n\tret\n";
    EXPECT_EQ(simt::with_arithmetic_counted(text), text);
}

TEST(CountedText, OfACheckedKernelHasTheDoublesAlone) {
    const std::string floats = "\t.text\nf:\n\tmulss\t%xmm0, %xmm0\n\tcvtss2sd\t%xmm0, %xmm0\n\tret\n";
    EXPECT_EQ(simt::with_arithmetic_counted(floats, simt::Counted::of_doubles), floats);
    const std::string text = simt::with_arithmetic_counted(
        "\t.text\nf:\n\tmulss\t%xmm0, %xmm0\n\tjne\t.L2\n\tmulsd\t%xmm0, %xmm0\n\tret\n", simt::Counted::of_doubles);
    EXPECT_EQ(calls_in(text), 1U) << text;
    EXPECT_GT(text.find("simt_arithmetic"), text.find("jne")) << text;
}

TEST(CountedText, ABlockBeginsAtALabelOrAfterAJump) {
    const std::string text = simt::with_arithmetic_counted(
        "\t.text\nf:\n\tvaddss\t%xmm0, %xmm0, %xmm0\n.L2:\n\tvmulss\t%xmm0, %xmm0, %xmm0\n\tjne\t.L2\n"
        "\tvsubss\t%xmm0, %xmm0, %xmm0\n\tret\n");
    EXPECT_EQ(calls_in(text), 3U) << text;
}

TEST(CountedText, ALabelOfTheDebuggerEndsNoBlock) {
    const std::string text = simt::with_arithmetic_counted(
        "\t.text\nf:\n\tmovl\t%edi, %eax\n.LVL3:\n\t.loc 1 2 3\n\tvaddss\t%xmm0, %xmm0, %xmm0\n.LBB5:\n"
        "\tcall\tg\n\tvaddss\t%xmm0, %xmm0, %xmm0\n\tret\n");
    EXPECT_EQ(calls_in(text), 1U) << text;
    EXPECT_LT(text.find("simt_arithmetic"), text.find("movl")) << text;
}

TEST(CountedText, ATableGoesWithTheFunctionThatTheLinkerMayDrop) {
    const std::string text = simt::with_arithmetic_counted(
        "\t.section\t.text._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n_Z1fv:\n\tvaddss\t%xmm0, %xmm0, %xmm0\n\tret\n");
    EXPECT_NE(text.find(".rodata.simt_arithmetic._Z1fv,\"aG\",@progbits,_Z1fv,comdat"), std::string::npos) << text;
}

}  // namespace
