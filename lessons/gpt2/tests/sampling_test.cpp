// SPDX-License-Identifier: MIT
#include "lessons/gpt2/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

// How often each token is drawn in n draws.
std::vector<double> frequencies(const std::vector<float>& logits, const Sampling& options, int n) {
    Random random(42);
    std::vector<double> counts(logits.size());
    for (int i = 0; i < n; i++) { counts.at(static_cast<std::size_t>(sample(logits, options, random)))++; }
    for (double& count : counts) { count /= n; }
    return counts;
}

}  // namespace

TEST(Random, GivesThePublishedSequenceOfSplitMix64) {
    Random random(1234567);
    EXPECT_EQ(random.next(), 6457827717110365317u);
    EXPECT_EQ(random.next(), 3203168211198807973u);
    EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(Random, IsUniformInTheUnitInterval) {
    Random random(7);
    double sum = 0.0, squares = 0.0;
    constexpr int kN = 100000;
    for (int i = 0; i < kN; i++) {
        const double u = random.uniform();
        ASSERT_GE(u, 0.0);
        ASSERT_LT(u, 1.0);
        sum += u;
        squares += u * u;
    }
    // Five standard errors of the mean of u and of u^2.
    EXPECT_NEAR(sum / kN, 0.5, 5 * 0.289 / std::sqrt(kN));
    EXPECT_NEAR(squares / kN, 1.0 / 3.0, 5 * 0.298 / std::sqrt(kN));
}

TEST(Sampling, TakesTheMostLikelyTokenAtTemperatureZero) {
    Random random(1);
    const std::vector<float> logits{0.0f, 3.0f, -1.0f, 3.0f};
    for (int i = 0; i < 10; i++) { EXPECT_EQ(sample(logits, {.temperature = 0.0}, random), 1); }
}

TEST(Sampling, DrawsTheSameTokensFromTheSameSeed) {
    const std::vector<float> logits{0.1f, 0.2f, 0.3f, 0.4f, 0.5f};
    Random one(99), same(99), other(100);
    int different = 0;
    for (int i = 0; i < 100; i++) {
        const int token = sample(logits, {}, one);
        EXPECT_EQ(sample(logits, {}, same), token);
        different += sample(logits, {}, other) != token;
    }
    EXPECT_GT(different, 50);
}

TEST(Sampling, DrawsEachTokenAsOftenAsItsProbabilitySays) {
    const std::vector<float> logits{std::log(0.1f), std::log(0.2f), std::log(0.7f)};
    constexpr int kN = 100000;
    const std::vector<double> drawn = frequencies(logits, {}, kN);
    for (const auto& [token, p] : {std::pair{0u, 0.1}, {1u, 0.2}, {2u, 0.7}}) {
        EXPECT_NEAR(drawn[token], p, 5 * std::sqrt(p * (1 - p) / kN)) << token;
    }
}

TEST(Sampling, DividesTheLogitsByTheTemperature) {
    const std::vector<float> logits{0.0f, 1.0f};
    constexpr int kN = 100000;
    const double p = 1.0 / (1.0 + std::exp(-1.0 / 0.5));
    EXPECT_NEAR(frequencies(logits, {.temperature = 0.5}, kN)[1], p, 5 * std::sqrt(p * (1 - p) / kN));
}

TEST(Sampling, TopKLeavesOnlyTheKMostLikelyInTheirProportion) {
    const std::vector<float> logits{std::log(1.0f), std::log(3.0f), std::log(2.0f), std::log(1.0f)};
    constexpr int kN = 100000;
    const std::vector<double> drawn = frequencies(logits, {.top_k = 2}, kN);
    EXPECT_EQ(drawn[0], 0.0);
    EXPECT_EQ(drawn[3], 0.0);
    EXPECT_NEAR(drawn[1], 0.6, 5 * std::sqrt(0.24 / kN));
}

TEST(Sampling, TopKOfOneIsTheMostLikelyToken) {
    EXPECT_EQ(frequencies({1.0f, 1.1f, 0.9f}, {.top_k = 1}, 100)[1], 1.0);
}

TEST(Sampling, TopKBeyondTheVocabularyChangesNothing) {
    const std::vector<float> logits{0.1f, 0.9f, 0.4f};
    Random one(5), other(5);
    for (int i = 0; i < 100; i++) { EXPECT_EQ(sample(logits, {}, one), sample(logits, {.top_k = 50}, other)); }
}

TEST(Sampling, TopPLeavesTheFewestTokensThatReachIt) {
    const std::vector<float> logits{std::log(0.1f), std::log(0.5f), std::log(0.3f), std::log(0.1f)};
    constexpr int kN = 100000;
    const std::vector<double> drawn = frequencies(logits, {.top_p = 0.75}, kN);
    EXPECT_EQ(drawn[0], 0.0);
    EXPECT_EQ(drawn[3], 0.0);
    EXPECT_NEAR(drawn[1], 0.625, 5 * std::sqrt(0.625 * 0.375 / kN));
}

TEST(Sampling, TopPKeepsAtLeastOneToken) {
    EXPECT_EQ(frequencies({1.0f, 1.1f, 0.9f}, {.top_p = 1e-9}, 100)[1], 1.0);
}

TEST(Sampling, StandsLogitsThatOverflowAnExponential) {
    EXPECT_EQ(frequencies({3e38f, -3e38f, 100.0f}, {}, 100)[0], 1.0);
    EXPECT_EQ(frequencies({0.0f, 1.0f}, {.temperature = 1e-300}, 100)[1], 1.0);
}

TEST(Sampling, NeverDrawsATokenWithoutProbability) {
    const std::vector<float> logits{0.0f, -3e38f};
    EXPECT_EQ(frequencies(logits, {}, 1000)[1], 0.0);
}
