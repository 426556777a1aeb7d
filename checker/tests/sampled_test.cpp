// SPDX-License-Identifier: MIT
//
// What is said of an output of which only some blocks ran.
#include <gtest/gtest.h>

#include <memory>

#include "checker/judge/describe.h"

namespace {

using checker::CallVerdict;
using checker::SampledElements;

// out[m, n] = 100 m + n, with a floor of 1 and a budget of 2.
checker::Call call() {
    return {.where = "",
            .inputs = {},
            .outputs = {},
            .run = {},
            .sampled = checker::Sampled{.output = {.name = "out",
                                                   .role = checker::Role::output,
                                                   .element = checker::Element::f32,
                                                   .dims = checker::Dims("M N", {50'000, 50'000})},
                                        .expected =
                                            [](long element, const auto&) {
                                                return std::pair(100.0 * static_cast<double>(element / 50'000) +
                                                                     static_cast<double>(element % 50'000),
                                                                 1.0);
                                            },
                                        .factor = 2}};
}

// Of a launch of a million blocks, each of which writes what is its share, ten were run.
std::unique_ptr<SampledElements> sampled(std::initializer_list<std::pair<long, float>> elements) {
    auto result = std::make_unique<SampledElements>();
    for (const auto& [element, value] : elements) { result->written[result->count++] = {element, value}; }
    result->blocks = 1'000'000;
    result->blocks_run = 10;
    result->all_written = 10 * 2'500;
    return result;
}

CallVerdict describe(const SampledElements& first, const SampledElements& second) {
    const std::array runs{&first, &second};
    return checker::describe_sampled(call(), {}, runs);
}

TEST(SampledElements, WithinTheBudgetAreRightAndSayHowMuchOfItTheyUsed) {
    const CallVerdict verdict = describe(*sampled({{0, 0.0F}, {2'499'999'999, 5'049'898.0F + 1.0F}}), *sampled({}));
    EXPECT_TRUE(verdict.ok);
    EXPECT_TRUE(verdict.findings.empty());
    EXPECT_DOUBLE_EQ(verdict.budget_used, 0.0);
    EXPECT_DOUBLE_EQ(describe(*sampled({{7, 8.0F}}), *sampled({})).budget_used, 0.5);
}

TEST(SampledElements, AreRightWithinOneUlpOfTheirElement) {
    checker::Call narrow = call();
    narrow.sampled->factor = 1e-6;
    const auto off_by_one = sampled({{257, 256.0F}}), none = sampled({});  // bfloat16 has no 257
    const std::array runs{static_cast<const SampledElements*>(off_by_one.get()),
                          static_cast<const SampledElements*>(none.get())};
    EXPECT_FALSE(checker::describe_sampled(narrow, {}, runs).ok) << "in f32";
    narrow.sampled->output.element = checker::Element::bf16;
    EXPECT_TRUE(checker::describe_sampled(narrow, {}, runs).ok);
}

TEST(SampledElements, OfBlocksThatWereCutShortNeedNotBeMany) {
    const auto few = sampled({{7, 7.0F}}), cut = sampled({{7, 7.0F}});
    few->all_written = cut->all_written = 10;
    EXPECT_FALSE(describe(*few, *few).ok);
    cut->blocks_cut = 10;
    EXPECT_TRUE(describe(*cut, *cut).ok);
}

TEST(SampledElements, AWrongOneIsNamedInTheTermsOfTheShape) {
    const CallVerdict verdict = describe(*sampled({{0, 0.0F}}), *sampled({{2'499'999'999, 3.0F}, {1, 1.0F}}));
    EXPECT_FALSE(verdict.ok);
    ASSERT_EQ(verdict.findings.size(), 1U);
    EXPECT_EQ(verdict.findings[0].kind, "mismatch");
    EXPECT_EQ(verdict.findings[0].text, "1 of 3 elements that were looked at are wrong");
    ASSERT_EQ(verdict.findings[0].details.size(), 1U);
    EXPECT_NE(verdict.findings[0].details[0].find("out[m=49999, n=49999]   got 3"), std::string::npos)
        << verdict.findings[0].details[0];
}

TEST(SampledElements, NaNIsWrong) {
    EXPECT_FALSE(describe(*sampled({{0, std::numeric_limits<float>::quiet_NaN()}}), *sampled({})).ok);
}

TEST(SampledElements, OfALaunchThatWritesLessThanHalfAreSaidToBeLeftOut) {
    const std::unique_ptr<SampledElements> right = sampled({{0, 0.0F}}), few = sampled({{0, 0.0F}});
    few->all_written = 2 * 2'500;  // of ten blocks two had something to write
    const CallVerdict verdict = describe(*few, *few);
    EXPECT_FALSE(verdict.ok);
    ASSERT_EQ(verdict.findings.size(), 1U);
    EXPECT_EQ(verdict.findings[0].kind, "untouched");
    EXPECT_EQ(verdict.findings[0].text,
              "most of out (M=50000, N=50000) is written by no block: all of them together write about 20% of it");
    EXPECT_EQ(verdict.findings[0].details.at(0), "ran\t20 of 2,000,000 blocks, which wrote 10,000 elements");
    // Both runs are looked at together: in one of them the blocks may have been the short ones.
    EXPECT_TRUE(describe(*few, *right).ok);
}

TEST(SampledElements, OfALaunchThatRanWholeAreSaidToBeLeftOutWhereOneIs) {
    const std::unique_ptr<SampledElements> whole = sampled({{0, 0.0F}});
    whole->blocks_run = whole->blocks;
    whole->all_written = 2'500'000'000;
    EXPECT_TRUE(describe(*whole, *whole).ok);
    whole->all_written--;
    const CallVerdict verdict = describe(*whole, *whole);
    EXPECT_FALSE(verdict.ok);
    EXPECT_EQ(verdict.findings.at(0).text, "1 of the 2,500,000,000 elements of out are written by no block");
}

TEST(SampledElements, WithoutAnyNothingWasWritten) {
    const CallVerdict verdict = describe(*sampled({}), *sampled({}));
    EXPECT_FALSE(verdict.ok);
    EXPECT_TRUE(verdict.untouched);
    EXPECT_EQ(verdict.findings.at(0).text, "nothing was written to out (M=50000, N=50000)");
}

}  // namespace
