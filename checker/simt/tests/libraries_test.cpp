// SPDX-License-Identifier: MIT
//
// cuBLAS on the CPU device: its numbers, and a call's way through a worker, which loads what calls it.
#include <cblas.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "checker/simt/include/cublas_api.h"
#include "checker/simt/include/simt/api.h"
#include "checker/simt/include/simt/short_float.h"
#include "checker/simt/libraries/product.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/counting/traffic.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/sampling.h"
#include "checker/simt/tests/objects/linear.h"
#include "checker/simt/tests/objects/product.h"
#include "checker/tests/output.h"

namespace {

using checker::Finished;
using simt::Element;
using simt::Inputs;

// ---- each call against a loop in float64 --------------------------------------------------------------------------------

TEST(Calls, AreWhatALoopInFloat64SaysAndARefusalSaysWhyAndWhichSectionSaysSo) {
    const Finished finished = shell("SIMT_VERBOSE=1 build/tests/simt/libraries/calls --rows");
    EXPECT_EQ(finished.status, 0);
    for (const char* line :
         {"cublasSgemm fp32, compute 68, math 3, NT 17 x 9 x 33, gap 3, alpha -0.5, beta 2: CUBLAS_STATUS_SUCCESS, "
          "inputs "
          "to TF32, nearest",
          "simt: cublasSgemm: CUBLAS_STATUS_INVALID_VALUE: lda = 4 is less than max(1, m = 5) (cublas<t>gemm())",
          "simt: cublasGemmEx: CUBLAS_STATUS_NOT_SUPPORTED: A and B are of different types (cublasGemmEx())",
          "calls: 0 of 2955 are not as the CPU device's should be"}) {
        EXPECT_NE(finished.output.find(line), std::string::npos) << line << '\n' << finished.output.substr(0, 2000);
    }
}

TEST(Calls, AreSilentWhereNothingIsRefusedAloudAndTf32IsTruncatedWhereThatIsAskedFor) {
    const Finished finished = shell("SIMT_TF32=truncate build/tests/simt/libraries/calls --tf32");
    EXPECT_EQ(finished.status, 0);
    EXPECT_TRUE(finished.output.starts_with("calls: 0 of ")) << finished.output;
    EXPECT_EQ(finished.output.find('\n'), finished.output.size() - 1) << finished.output;
}

TEST(Calls, RoundNothingToTf32WhereTheEnvironmentForbidsIt) {
    for (const char* value : {"0", "1"}) {  // 0 alone forbids it
        const Finished finished =
            shell(std::string("NVIDIA_TF32_OVERRIDE=") + value + " build/tests/simt/libraries/calls --tf32");
        EXPECT_EQ(finished.status, 0);
        EXPECT_TRUE(finished.output.starts_with("calls: 0 of ")) << finished.output;
    }
    EXPECT_NE(shell("SIMT_VERBOSE=1 NVIDIA_TF32_OVERRIDE=0 build/tests/simt/libraries/calls --tf32")
                  .output.find("simt: NVIDIA_TF32_OVERRIDE=0: what was to be rounded to TF32 is not\n"),
              std::string::npos);
}

TEST(MatmulsOfCublasLt, AreWhatLoopsInDoubleSay) {
    const Finished finished = shell("build/tests/simt/libraries/lt_products");
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.output, "lt_products: 0 of 635 are not as the CPU device's should be\n");
}

TEST(MatmulsOfCublasLt, GetTheirStatusesAndARefusalSaysWhyAndWhichSectionSaysSo) {
    const Finished finished = shell("SIMT_VERBOSE=1 build/tests/simt/libraries/lt_statuses");
    EXPECT_EQ(finished.status, 0);
    EXPECT_TRUE(finished.output.ends_with("lt_statuses: 0 of 119 are not as the CPU device's should be\n"));
    for (const char* line :
         {"simt: cublasLtMatmul: CUBLAS_STATUS_INVALID_VALUE: the algorithm needs a workspace of 256 bytes, and gets 0 "
          "(cublasLtMatmul())",
          "simt: cublasLtMatmul: CUBLAS_STATUS_INVALID_VALUE: AUX has ld 68: it must be a multiple of 8, and no less "
          "than "
          "D's 64 rows (cublasLtMatmulDescAttributes_t)",
          "simt: cublasLtMatmul: CUBLAS_STATUS_INVALID_VALUE: the algorithm was chosen for m = 64, n = 32, k = 128, "
          "batch "
          "1, and this is m = 64, n = 16, k = 128, batch 1 (cublasLtMatmulAlgoCheck(); not verified for sizes)",
          "simt: cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED: op(A) is 64 x 128, op(B) is 127 x 32, D "
          "is 64 "
          "x 32 (cublasLtMatmul())"}) {
        EXPECT_NE(finished.output.find(line), std::string::npos) << line;
    }
}

TEST(AttributesOfCublasLt, AreNamedWhereASizeIsRefused) {
    const Finished finished = shell("SIMT_VERBOSE=1 build/tests/simt/kernels/correct/cublas_lt_descriptors 2>&1");
    EXPECT_NE(finished.output.find("simt: cublasLtMatmulDescSetAttribute: CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD has 8 "
                                   "bytes, and the value "),
              std::string::npos)
        << finished.output.substr(0, 2000);
}

// Where nvcc has cuBLAS: what the corpus expects of the CPU device's.
class TheLibraryItself : public testing::TestWithParam<const char*> {};

TEST_P(TheLibraryItself, SaysTheSameWhereNoCardIsNeeded) {
    const std::string program = std::string("build/nvcc/simt/kernels/correct/") + GetParam();
    if (!std::filesystem::exists(program)) {
        GTEST_SKIP() << "nvcc has no cuBLAS here: make test-all fetches it, CUBLAS=DIR names it";
    }
    const Finished finished = shell(program);
    EXPECT_EQ(finished.status, 0) << finished.output;
}

INSTANTIATE_TEST_SUITE_P(WithoutACard, TheLibraryItself,
                         testing::Values("cublas_without_a_handle", "cublas_lt_descriptors"),
                         [](const auto& program) { return std::string(program.param); });

// ---- numbers -------------------------------------------------------------------------------------------------------------

float from_bits(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

TEST(Tf32, RoundsToTenBitsOfFractionToNearestEven) {
    EXPECT_EQ(simt::tf32(1 + 0x1p-10F), 1 + 0x1p-10F);
    EXPECT_EQ(simt::tf32(1 + 0x1p-11F), 1.0F);                     // half way: to the even one
    EXPECT_EQ(simt::tf32(1 + 0x1.8p-10F), 1 + 0x1p-9F);            // half way: to the even one, which is above
    EXPECT_EQ(simt::tf32(1 + 0x1p-11F + 0x1p-23F), 1 + 0x1p-10F);  // more than half
    EXPECT_EQ(simt::tf32(-(1 + 0x1p-11F + 0x1p-23F)), -(1 + 0x1p-10F));
    EXPECT_EQ(simt::tf32(2 - 0x1p-23F), 2.0F);
    EXPECT_EQ(simt::tf32(0.0F), 0.0F);
    EXPECT_EQ(simt::tf32(INFINITY), INFINITY);
    EXPECT_TRUE(std::isnan(simt::tf32(from_bits(0x7fffffffU))));
    EXPECT_TRUE(std::isnan(simt::tf32(from_bits(0x7f800001U))));
}

TEST(NumbersOf16Bits, AllHaveTheirValues) {
    std::vector<std::uint16_t> all(65536);
    for (std::size_t i = 0; i < all.size(); i++) { all[i] = static_cast<std::uint16_t>(i); }
    std::vector<float> halves(all.size()), bfloats(all.size());
    simt::widen(all.data(), Element::fp16, halves.data(), static_cast<long>(all.size()));
    simt::widen(all.data(), Element::bf16, bfloats.data(), static_cast<long>(all.size()));
    for (std::size_t i = 0; i < all.size(); i++) {
        const auto is = [](float got, float right) {
            return std::isnan(right) ? std::isnan(got)
                                     : std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(right);
        };
        ASSERT_TRUE(is(halves[i], simt::HalfFormat::value(all[i]))) << i;
        ASSERT_TRUE(is(bfloats[i], simt::BfloatFormat::value(all[i]))) << i;
    }
}

TEST(NumbersOf16Bits, AreRoundedToNearestEven) {
    std::vector<float> values = {0.0F,     -0.0F,    1 + 0x1p-8F, 1 + 0x1.8p-7F, 1 + 0x1p-11F, 65504.0F,
                                 65520.0F, 0x1p-25F, 0x1.8p-24F,  INFINITY,      -INFINITY,    from_bits(0x7f7fffffU)};
    std::mt19937 random(1);
    for (int i = 0; i < 20000; i++) {
        const auto bits = static_cast<std::uint32_t>(random());
        values.push_back(from_bits((bits & 0x7f800000U) == 0x7f800000U ? bits & 0x7fffffffU & ~0x40000000U : bits));
    }
    std::vector<std::uint16_t> halves(values.size()), bfloats(values.size());
    simt::narrow(values.data(), halves.data(), Element::fp16, static_cast<long>(values.size()));
    simt::narrow(values.data(), bfloats.data(), Element::bf16, static_cast<long>(values.size()));
    for (std::size_t i = 0; i < values.size(); i++) {
        ASSERT_EQ(halves[i], simt::HalfFormat::round(static_cast<double>(values[i]))) << values[i];
        ASSERT_EQ(bfloats[i], simt::BfloatFormat::round(static_cast<double>(values[i]))) << values[i];
    }
    const float nan = from_bits(0x7fffffffU);
    std::uint16_t bits = 0;
    simt::narrow(&nan, &bits, Element::bf16, 1);
    EXPECT_TRUE(simt::BfloatFormat::is_nan(bits));
}

// The root of the mean square of the errors, relative to the results'.
double error_of(Inputs inputs) {
    constexpr long kM = 40, kN = 30, kK = 768;
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> a(kM * kK), b(kK * kN), d(kM * kN);
    for (float& x : a) { x = normal(random); }
    for (float& x : b) { x = normal(random); }
    simt::multiply({.m = kM,
                    .n = kN,
                    .k = kK,
                    .a = {a.data(), Element::fp32, true, kK},
                    .b = {b.data(), Element::fp32, false, kK},
                    .d = d.data(),
                    .ldd = kM,
                    .inputs = inputs});
    double errors = 0, squares = 0;
    for (long i = 0; i < kM; i++) {
        for (long j = 0; j < kN; j++) {
            double right = 0;
            for (long k = 0; k < kK; k++) {
                right += static_cast<double>(a[static_cast<std::size_t>(i * kK + k)]) *
                         static_cast<double>(b[static_cast<std::size_t>(j * kK + k)]);
            }
            errors += std::pow(static_cast<double>(d[static_cast<std::size_t>(j * kM + i)]) - right, 2);
            squares += right * right;
        }
    }
    return std::sqrt(errors / squares);
}

// A step is 2^-10 of an input's power of two, and the error uniform in half of it on either side: 2^-11 / sqrt(3) of that
// power, about 0.7 of it of the input. Both inputs have it: 2.8e-4, whatever k is.
TEST(Tf32, HasTheErrorThatItsInputsGiveAndFp32IsHundredsOfTimesMoreAccurate) {
    const double tf32 = error_of(Inputs::tf32), fp32 = error_of(Inputs::as_they_are);
    EXPECT_GT(tf32, 2e-4);
    EXPECT_LT(tf32, 5e-4);
    EXPECT_LT(fp32, tf32 / 200);
}

TEST(Products, GoOnOneCore) {
    error_of(Inputs::as_they_are);
    EXPECT_EQ(openblas_get_num_threads(), 1);
}

TEST(Products, MayBeChangedBeforeTheyAreRoundedAndStored) {
    const std::array<float, 2> a = {1, 2}, b = {3, 4};
    std::array<std::uint16_t, 6> d = {7, 7, 7, 7, 7, 7};  // 2 x 2, ld 3
    std::vector<float> seen;
    simt::multiply({.m = 2,
                    .n = 2,
                    .k = 1,
                    .a = {a.data(), Element::fp32, false, 2},
                    .b = {b.data(), Element::fp32, false, 1},
                    .d = d.data(),
                    .d_element = Element::bf16,
                    .ldd = 3,
                    .finish = [&](float* values, long ld) {
                        for (long i = 0; i < 4; i++) {
                            float& value = values[i / 2 * ld + i % 2];
                            seen.push_back(value);
                            value += 0.5F;
                        }
                    }});
    EXPECT_EQ(seen, (std::vector<float>{3, 6, 4, 8}));
    const auto stored = [&](std::size_t i) { return simt::BfloatFormat::value(d[i]); };
    EXPECT_EQ((std::vector<float>{stored(0), stored(1), stored(3), stored(4)}),
              (std::vector<float>{3.5F, 6.5F, 4.5F, 8.5F}));
    EXPECT_EQ(d[2], 7);
    EXPECT_EQ(d[5], 7);
}

// ---- a worker's way ------------------------------------------------------------------------------------------------------

class Worker : public testing::Test {
  protected:
    void SetUp() override {
        simt::report_at_exit(false);
        simt::forget_findings();
        product_ = reinterpret_cast<decltype(&product)>(loaded("product", "product"));
        product_tf32_ = reinterpret_cast<decltype(&product_tf32)>(loaded("product", "product_tf32"));
        linear_gelu_ = reinterpret_cast<decltype(&linear_gelu)>(loaded("linear", "linear_gelu"));
        ASSERT_NE(product_, nullptr) << dlerror();
        ASSERT_NE(linear_gelu_, nullptr) << dlerror();
    }
    static void* loaded(const std::string& object, const char* function) {
        void* const opened = dlopen(("build/tests/simt/objects/" + object + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        return opened == nullptr ? nullptr : dlsym(opened, function);
    }
    void TearDown() override {
        for (void* const pointer : pointers_) { cudaFree(pointer); }
    }

    float* filled(long count, float value) {
        float* const pointer = allocated(count);
        const std::vector<float> values(static_cast<std::size_t>(count), value);
        cudaMemcpy(pointer, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
        return pointer;
    }
    float* allocated(long count) {
        void* pointer = nullptr;
        EXPECT_EQ(cudaMalloc(&pointer, static_cast<std::size_t>(count) * sizeof(float)), cudaSuccess);
        pointers_.push_back(pointer);
        return static_cast<float*>(pointer);
    }

    decltype(&product) product_ = nullptr;
    decltype(&product_tf32) product_tf32_ = nullptr;
    decltype(&linear_gelu) linear_gelu_ = nullptr;
    std::vector<void*> pointers_;
};

TEST_F(Worker, WhatItLoadsFindsCublasInTheProgram) {
    float* const out = allocated(2 * 3);
    ASSERT_EQ(product_(out, filled(2 * 5, 2), filled(3 * 5, 3), 2, 5, 3), 0);
    std::array<float, 6> got = {};
    cudaMemcpy(got.data(), out, sizeof got, cudaMemcpyDeviceToHost);
    for (const float value : got) { EXPECT_EQ(value, 30.0F); }
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(Worker, AFindingNamesTheBufferAndTheCall) {
    float* const weight = allocated(3 * 5);
    simt::name_buffer(weight, "weight", {{"OC", "oc", 3}, {"C", "c", 5}}, sizeof(float));
    ASSERT_EQ(product_(allocated(2 * 3), filled(2 * 5, 2), weight, 2, 5, 3), 0);
    const std::vector<simt::DeviceFinding> findings = simt::findings();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, simt::Kind::uninitialised);
    EXPECT_EQ(findings[0].line.file, "checker/simt/tests/objects/product.cu");
    EXPECT_EQ(findings[0].text,
              "cublasSgemm reads A (k x m = 5 x 3, lda 5), and nobody has written weight[oc=0, c=0] of weight "
              "(OC=3, C=5)");
}

TEST_F(Worker, ACallIsCountedWithItsBytesAndItsOperationsAndIsNoLaunch) {
    const simt::CountingTraffic counting;
    ASSERT_EQ(product_(allocated(2 * 3), filled(2 * 5, 2), filled(3 * 5, 3), 2, 5, 3), 0);
    const simt::LaunchTraffic all = simt::traffic_in_all();
    EXPECT_EQ(all.launches, 0U);
    EXPECT_EQ(all.total.library_calls, 1U);
    EXPECT_EQ(all.total.library_bytes_read, 4U * (2 * 5 + 3 * 5));
    EXPECT_EQ(all.total.library_bytes_written, 4U * 2 * 3);
    EXPECT_EQ(all.total.library_flop, 2U * 2 * 5 * 3);
    EXPECT_EQ(all.total.bytes_asked(), 0U);
}

TEST_F(Worker, OperationsOfTensorCoresAreCountedByTheirPrecision) {
    const simt::CountingTraffic counting;
    ASSERT_EQ(product_(allocated(2 * 3), filled(2 * 5, 2), filled(3 * 5, 3), 2, 5, 3), 0);
    EXPECT_EQ(simt::traffic_in_all().total.library_flop_tf32, 0U);
    ASSERT_EQ(product_tf32_(allocated(2 * 3), filled(2 * 5, 2), filled(3 * 5, 3), 2, 5, 3), 0);
    const simt::Traffic total = simt::traffic_in_all().total;
    EXPECT_EQ(total.library_flop, 2U * 2 * 2 * 5 * 3);
    EXPECT_EQ(total.library_flop_tf32, 2U * 2 * 5 * 3);
    EXPECT_EQ(total.library_flop_16, 0U);
}

TEST_F(Worker, CallsOfALibraryAreCallsOfTheApiWhateverTheyCallThemselves) {
    float *const out = allocated(3 * 8), *const inp = filled(3 * 5, 2), *const weight = filled(8 * 5, 1),
                 *const bias = filled(8, 0);
    const auto calls_of = [](auto&& host_code) {
        const std::uint64_t before = simt::api_calls();
        EXPECT_EQ(host_code(), 0);
        return simt::api_calls() - before;
    };
    EXPECT_EQ(calls_of([&] { return product_(out, inp, weight, 3, 5, 8); }), 3U) << "the handle, the product";
    EXPECT_EQ(calls_of([&] { return linear_gelu_(out, nullptr, inp, weight, bias, 3, 5, 8, 0); }), 12U)
        << "a description with five attributes, three layouts, the handle, the product";
    EXPECT_EQ(calls_of([] { return static_cast<int>(cudaDeviceSynchronize()); }), 1U)
        << "what runs meanwhile is none of the program's";
}

TEST_F(Worker, WhereLaunchesAreSampledSomeTilesOfTheOutputAreComputed) {
    constexpr int kN = 100000, kOC = 25000, kC = 4;  // more outputs than an int can count
    float *const out = allocated(long{kN} * kOC), *const inp = filled(long{kN} * kC, 1),
                 *const weight = filled(kOC * kC, 2);
    {
        const simt::SamplingBlocks sampling({.others = 3});
        ASSERT_EQ(product_(out, inp, weight, kN, kC, kOC), 0);
        ASSERT_EQ(simt::sampled_launches().size(), 1U);
        EXPECT_EQ(simt::sampled_launches()[0].blocks.size(), 5U);
    }
    const simt::WrittenElements written = simt::written_elements(out, sizeof(float), 100);
    EXPECT_GT(written.all, 3U * 64 * 64);
    EXPECT_LE(written.all, 5U * 64 * 64);
    EXPECT_EQ(written.some.back(), std::size_t{kN} * kOC - 1);
    float last = 0;
    cudaMemcpy(&last, out + long{kN} * kOC - 1, sizeof last, cudaMemcpyDeviceToHost);
    EXPECT_EQ(last, 8.0F);
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(Worker, ALinearLayerWithItsGeluIsOneCallOfTheBytesThatItNeeds) {
    constexpr int kN = 3, kC = 5, kOC = 8;
    float *const out = allocated(kN * kOC), *const inp = filled(kN * kC, 2), *const weight = filled(kOC * kC, 0.25F),
                 *const bias = filled(kOC, -0.5F), *const pre_gelu = allocated(kN * kOC);
    for (float* const aux : {static_cast<float*>(nullptr), pre_gelu}) {
        const simt::CountingTraffic counting;
        ASSERT_EQ(linear_gelu_(out, aux, inp, weight, bias, kN, kC, kOC, 0), 0);
        std::array<float, kN* kOC> got = {};
        cudaMemcpy(got.data(), out, sizeof got, cudaMemcpyDeviceToHost);
        for (const float value : got) { EXPECT_NEAR(value, 1.954598F, 1e-6); }  // GELU of 2
        const simt::LaunchTraffic all = simt::traffic_in_all();
        EXPECT_EQ(all.total.library_calls, 1U);
        EXPECT_EQ(all.total.library_bytes_read, 4U * (kN * kC + kOC * kC + kOC));
        EXPECT_EQ(all.total.library_bytes_written, 4U * kN * kOC * (aux != nullptr ? 2 : 1));
        EXPECT_EQ(all.total.library_flop, 2U * kN * kC * kOC);
    }
    std::array<float, kN* kOC> kept = {};
    cudaMemcpy(kept.data(), pre_gelu, sizeof kept, cudaMemcpyDeviceToHost);
    for (const float value : kept) { EXPECT_EQ(value, 2.0F); }
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(Worker, BytesAreCountedThatAnAlgorithmMovesInSmallerPiecesThanTheirAddressesAllow) {
    constexpr int kN = 16, kC = 32, kOC = 8;
    float *const out = allocated(kN * kOC), *const inp = filled(kN * kC + 4, 2), *const weight = filled(kOC * kC, 1),
                 *const bias = filled(kOC, 0);
    const auto narrow_bytes = [&](const float* of_inp, int alignment, int c) {
        const simt::CountingTraffic counting;
        EXPECT_EQ(linear_gelu_(out, nullptr, of_inp, weight, bias, kN, c, kOC, alignment), 0);
        cudaDeviceSynchronize();
        return simt::traffic_in_all().total.library_bytes_narrow;
    };
    EXPECT_EQ(narrow_bytes(inp, 256, kC), 0U);
    EXPECT_EQ(narrow_bytes(inp, 16, kC), 0U);  // no access is wider
    EXPECT_EQ(narrow_bytes(inp, 4, kC), 4U * (kN * kC + kOC * kC + kN * kOC));
    EXPECT_EQ(narrow_bytes(inp + 1, 4, kC), 4U * (kOC * kC + kN * kOC));  // inp allows no more
    EXPECT_EQ(narrow_bytes(inp, 4, kC - 1), 4U * kN * kOC);               // nor do rows of 31 floats
    EXPECT_EQ(narrow_bytes(inp, 0, kC), 0U);                              // nothing is known without an algorithm
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(Worker, WhereLaunchesAreSampledTilesOfAMatmulWithAnEpilogueAreRight) {
    constexpr int kN = 90000, kOC = 25000, kC = 4;  // more outputs than an int can count
    float *const out = allocated(long{kN} * kOC), *const pre_gelu = allocated(long{kN} * kOC),
                 *const inp = allocated(long{kN} * kC), *const weight = filled(kOC * kC, 1),
                 *const bias = allocated(kOC);
    std::vector<float> numbers(std::size_t{kN} * kC);
    for (std::size_t i = 0; i < numbers.size(); i++) { numbers[i] = static_cast<float>(i / kC % 8); }
    cudaMemcpy(inp, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice);
    for (std::size_t i = 0; i < kOC; i++) { numbers[i] = static_cast<float>(i % 16); }
    cudaMemcpy(bias, numbers.data(), kOC * sizeof(float), cudaMemcpyHostToDevice);
    {
        const simt::SamplingBlocks sampling({.others = 3});
        ASSERT_EQ(linear_gelu_(out, pre_gelu, inp, weight, bias, kN, kC, kOC, 0), 0);
    }
    const simt::WrittenElements written = simt::written_elements(pre_gelu, sizeof(float), 1000);
    EXPECT_GT(written.all, 3U * 64 * 64);
    EXPECT_LE(written.all, 5U * 64 * 64);
    EXPECT_EQ(written.some.back(), std::size_t{kN} * kOC - 1);
    EXPECT_EQ(simt::written_elements(out, sizeof(float), 1000).some, written.some);
    for (const std::size_t i : written.some) {
        float got = 0;
        cudaMemcpy(&got, pre_gelu + i, sizeof got, cudaMemcpyDeviceToHost);
        ASSERT_EQ(got, static_cast<float>(kC * (i / kOC % 8) + i % kOC % 16)) << i;
    }
    EXPECT_TRUE(simt::findings().empty());
}

TEST_F(Worker, AHandleThatWasDestroyedIsNone) {
    cublasHandle_t handle = nullptr;
    ASSERT_EQ(cublasCreate_v2(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasDestroy_v2(handle), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSetStream_v2(handle, nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT_EQ(cublasDestroy_v2(handle), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST(SourceLine, IsSaidWithItsPlaceAndIsLeftOutWhereNoneIsKnown) {
    const simt::SourceLine known{.file = "matmul.cu", .line = 17, .function = "matmul"}, unknown{};
    EXPECT_EQ("freed" + simt::at_text_of(known), "freed at matmul.cu:17");
    EXPECT_EQ("freed" + simt::at_text_of(unknown), "freed");
}

}  // namespace
