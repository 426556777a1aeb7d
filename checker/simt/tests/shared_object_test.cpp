// SPDX-License-Identifier: MIT
//
// A worker's way: the runtime is part of the program, the kernels come from a shared object that simtcc has made.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/intrinsics/float_atomics.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/report/findings.h"

namespace {

using Scale = void (*)(float* out, const float* inp, float factor, int n);

// Calls it, and waits for what it has launched.
std::function<void(float*, const float*, float, int)> function(const char* name) {
    static void* const object = dlopen("build/tests/simt/objects/scale.so", RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return [call = reinterpret_cast<Scale>(dlsym(object, name))](float* out, const float* inp, float factor, int n) {
        call(out, inp, factor, n);
        static_cast<void>(cudaDeviceSynchronize());
    };
}

class SharedObject : public testing::Test {
  protected:
    static constexpr int kB = 2, kT = 3, kC = 5, kElements = kB * kT * kC;

    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        void* memory[2] = {};
        for (void*& pointer : memory) { ASSERT_EQ(cudaMalloc(&pointer, kElements * sizeof(float)), cudaSuccess); }
        out_ = static_cast<float*>(memory[0]);
        inp_ = static_cast<float*>(memory[1]);
        simt::name_buffer(out_, "out", {{"B", "b", kB}, {"T", "t", kT}, {"C", "c", kC}}, sizeof(float));
        simt::name_buffer(inp_, "inp", {{"B", "b", kB}, {"T", "t", kT}, {"C", "c", kC}}, sizeof(float));
    }
    void TearDown() override {
        cudaFree(out_);
        cudaFree(inp_);
    }

    float* out_ = nullptr;
    float* inp_ = nullptr;
};

TEST_F(SharedObject, AnAddressBeyondABufferNamesTheOneThatTheKernelsParameterPointsTo) {
    // The reads begin 4 MB after `near`, a buffer that the kernel knows nothing of, in the room that follows it.
    void *before = nullptr, *near = nullptr;
    ASSERT_EQ(cudaMalloc(&before, kElements * sizeof(float)), cudaSuccess);
    simt::name_buffer(before, "before", {{"B", "b", kB}, {"T", "t", kT}, {"C", "c", kC}}, sizeof(float));
    ASSERT_EQ(cudaMalloc(&near, std::size_t{32} << 20), cudaSuccess);
    simt::name_buffer(near, "near", {{"elements", "i", 8L << 20}}, sizeof(float));
    ASSERT_EQ(cudaMemset(out_, 0, kElements * sizeof(float)), cudaSuccess);
    const std::ptrdiff_t past = static_cast<float*>(near) + (9L << 20) - static_cast<float*>(before);
    function("scale_from")(out_, static_cast<float*>(before), 2.0F, static_cast<int>(past));
    const std::vector<simt::DeviceFinding> findings = simt::findings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, simt::Kind::out_of_bounds);
    EXPECT_NE(findings[0].text.find("past the end of before (B=2, T=3, C=5)"), std::string::npos) << findings[0].text;
    cudaFree(before);
    cudaFree(near);
}

TEST_F(SharedObject, AReadBeyondTheBuffersNamesAnInput) {
    // The reads begin 34 rows past the end of the output, which lies nearer than the input does.
    simt::name_buffer(out_, "weight", {{"B", "b", kB}, {"T", "t", kT}, {"C", "c", kC}}, sizeof(float));
    simt::name_buffer(inp_, "out", {{"B", "b", kB}, {"T", "t", kT}, {"C", "c", kC}}, sizeof(float));
    simt::name_use(out_, {.is_input = true});
    simt::name_use(inp_, {.is_output = true});
    function("scale_from")(inp_, out_, 2.0F, static_cast<int>(inp_ - out_) + kElements + 33 * kC);
    ASSERT_FALSE(simt::findings().empty());
    EXPECT_NE(simt::findings()[0].text.find("past the end of weight"), std::string::npos) << simt::findings()[0].text;
}

TEST_F(SharedObject, AReadFarBeyondNamesTheBufferThatItPassedLeast) {
    // The reads begin two thirds of the weight's size past its end, which is far beyond the bias too.
    constexpr long kRows = 4096;
    void *weight = nullptr, *bias = nullptr;
    ASSERT_EQ(cudaMalloc(&weight, kRows * kC * sizeof(float)), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&bias, kC * sizeof(float)), cudaSuccess);
    simt::name_buffer(weight, "weight", {{"OC", "o", kRows}, {"C", "c", kC}}, sizeof(float));
    simt::name_buffer(bias, "bias", {{"OC", "o", kC}}, sizeof(float));
    simt::name_use(weight, {.is_input = true});
    simt::name_use(bias, {.is_input = true});
    const auto past = static_cast<float*>(bias) + 2000 - static_cast<float*>(weight);
    function("scale_from")(static_cast<float*>(bias), static_cast<float*>(weight), 0.0F, static_cast<int>(past));
    ASSERT_FALSE(simt::findings().empty());
    EXPECT_NE(simt::findings()[0].text.find("past the end of weight"), std::string::npos) << simt::findings()[0].text;
    cudaFree(weight);
    cudaFree(bias);
}

TEST_F(SharedObject, AReadNextToAnOutputNamesIt) {
    simt::name_use(out_, {.is_output = true});
    simt::name_use(inp_, {.is_input = true});
    ASSERT_EQ(cudaMemset(out_, 0, kElements * sizeof(float)), cudaSuccess);
    function("scale_from")(inp_, out_, 2.0F, kElements - 4);
    ASSERT_FALSE(simt::findings().empty());
    EXPECT_NE(simt::findings().back().text.find("is one row past the end of out"), std::string::npos)
        << simt::findings().back().text;
}

TEST_F(SharedObject, AWriteToAColumnThatIsPaddingHasItsLine) {
    ASSERT_EQ(cudaMemset(inp_, 0, kElements * sizeof(float)), cudaSuccess);
    simt::name_use(out_, {.is_output = true, .columns = 4});
    function("scale")(out_, inp_, 2.0F, kElements);
    const std::vector<simt::DeviceFinding> findings = simt::findings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, simt::Kind::padding);
    EXPECT_NE(findings[0].text.find("c=4]: columns 4 and beyond are padding, to be left alone"), std::string::npos)
        << findings[0].text;
    EXPECT_EQ(findings[0].line.line, 19);
    EXPECT_EQ(findings[0].count, kB * kT);
}

TEST_F(SharedObject, ItsKernelsRunAndAreRight) {
    const std::vector<float> inp(kElements, 1.5F);
    std::vector<float> out(kElements);
    ASSERT_EQ(cudaMemcpy(inp_, inp.data(), kElements * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
    function("scale")(out_, inp_, 2.0F, kElements);
    ASSERT_EQ(cudaMemcpy(out.data(), out_, kElements * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(out, std::vector<float>(kElements, 3.0F));
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(SharedObject, AFindingSpeaksInTheBuffersOwnTerms) {
    ASSERT_EQ(cudaMemset(inp_, 0, kElements * sizeof(float)), cudaSuccess);
    function("scale_too_far")(out_, inp_, 2.0F, kElements);
    const std::vector<simt::DeviceFinding> findings = simt::findings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, simt::Kind::out_of_bounds);
    EXPECT_EQ(findings[0].kernel, "scale_too_far_kernel");
    EXPECT_EQ(findings[0].line.file, "checker/simt/tests/objects/scale.cu");
    EXPECT_EQ(findings[0].count, 2) << "the read and the write of one line";
    EXPECT_EQ(findings[0].text, "reads 4 bytes: inp[b=1, t=3, c=0] is one row past the end of inp (B=2, T=3, C=5)");
}

TEST_F(SharedObject, AnInputThatNobodyHasWrittenIsNamedByItsElement) {
    function("scale")(out_, inp_, 2.0F, 1);
    const std::vector<simt::DeviceFinding> findings = simt::findings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].text, "reads 4 bytes that nobody has written: inp[b=0, t=0, c=0] of inp (B=2, T=3, C=5)");
}

TEST_F(SharedObject, FloatAtomicsThatDependOnTheOrderAreNamedByTheirLine) {
    std::vector<float> inp(kElements, 0.01F);
    inp[0] = 4e6F;
    ASSERT_EQ(cudaMemcpy(inp_, inp.data(), kElements * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
    simt::forget_float_atomics();
    std::set<float> sums;
    for (std::uint64_t seed = 1; seed <= 8; seed++) {
        simt::set_seed(seed);
        ASSERT_EQ(cudaMemset(out_, 0, sizeof(float)), cudaSuccess);
        function("add_scaled")(out_, inp_, 1.0F, kElements);
        float sum = 0.0F;
        ASSERT_EQ(cudaMemcpy(&sum, out_, sizeof sum, cudaMemcpyDeviceToHost), cudaSuccess);
        sums.insert(sum);
    }
    EXPECT_GT(sums.size(), 1U);
    EXPECT_TRUE(simt::findings().empty());
    const std::vector<simt::SourceLine> lines = simt::float_atomics();
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].file, "checker/simt/tests/objects/scale.cu");
    simt::forget_float_atomics();
    EXPECT_TRUE(simt::float_atomics().empty());
}

}  // namespace
