// SPDX-License-Identifier: MIT
#include "checker/timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

using namespace checker;

namespace {

// A clock that tests turn by hand: work() advances it, nothing else does.
struct FakeClock {
    std::int64_t now = 1000;
    Clock clock() {
        return [this] { return now; };
    }
    Candidate takes(std::string name, std::int64_t nanoseconds) {
        return {std::move(name), [this, nanoseconds] { now += nanoseconds; }};
    }
};

std::vector<double> one_to(int n) {
    std::vector<double> samples(static_cast<std::size_t>(n));
    std::iota(samples.begin(), samples.end(), 1.0);
    return samples;
}

Samples samples_of(std::string name, std::vector<double> seconds) {
    return {.name = std::move(name), .seconds = std::move(seconds)};
}

}  // namespace

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
    const std::vector<double> samples = {4.0, 1.0, 3.0, 2.0};
    EXPECT_DOUBLE_EQ(quantile(samples, 0.0), 1.0);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile(samples, 1.0), 4.0);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.1), 1.3);
}

TEST(Quantile, OfASingleSampleIsThatSample) {
    const std::vector<double> samples = {7.0};
    EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 7.0);
}

TEST(Quantile, OfNoSamplesThrows) {
    EXPECT_THROW(quantile({}, 0.5), std::invalid_argument);
}

// The published table of order-statistic intervals: n = 10 gives the 2nd and 9th, n = 20 the 6th and 15th, n = 50 the
// 18th and 33rd, n = 100 the 40th and 61st.
TEST(MedianInterval, MatchesTheTabulatedRanks) {
    const struct {
        int n;
        double low, high;
    } rows[] = {{6, 1, 6}, {10, 2, 9}, {11, 2, 10}, {20, 6, 15}, {50, 18, 33}, {100, 40, 61}};
    for (const auto& row : rows) {
        const Interval interval = median_interval(one_to(row.n));
        EXPECT_EQ(interval.low, row.low) << "n = " << row.n;
        EXPECT_EQ(interval.high, row.high) << "n = " << row.n;
    }
}

TEST(MedianInterval, OfFewerThanSixSamplesIsTheirRange) {
    const Interval interval = median_interval(one_to(5));
    EXPECT_EQ(interval.low, 1.0);
    EXPECT_EQ(interval.high, 5.0);
}

TEST(MedianInterval, OfTenThousandSamplesIsAsNarrowAsTheNormalApproximationSays) {
    const Interval interval = median_interval(one_to(10000));
    EXPECT_NEAR(interval.low, 5000 - 0.98 * 100, 2.0);
    EXPECT_NEAR(interval.high, 5000 + 0.98 * 100, 2.0);
}

TEST(MedianInterval, CoversTheTrueMedianInAtLeast95PercentOfRuns) {
    std::mt19937 random(1);
    std::lognormal_distribution<double> skewed(0.0, 1.0);  // median 1
    int covered = 0;
    constexpr int kRuns = 4000;
    for (int run = 0; run < kRuns; run++) {
        std::vector<double> samples(25);
        for (double& sample : samples) { sample = skewed(random); }
        const Interval interval = median_interval(samples);
        covered += interval.low <= 1.0 && 1.0 <= interval.high;
    }
    EXPECT_GE(covered, 0.95 * kRuns - 3 * std::sqrt(0.95 * 0.05 * kRuns));
}

TEST(Summarise, GivesMedianTailsIntervalAndCount) {
    const Summary summary = summarise(one_to(11));
    EXPECT_DOUBLE_EQ(summary.median, 6.0);
    EXPECT_DOUBLE_EQ(summary.p10, 2.0);
    EXPECT_DOUBLE_EQ(summary.p90, 10.0);
    EXPECT_EQ(summary.interval.low, 2.0);
    EXPECT_EQ(summary.samples, 11u);
}

TEST(Summarise, IsNotMovedByOneVeryLateSample) {
    std::vector<double> samples(21, 1.0);
    samples[7] = 1000.0;
    EXPECT_DOUBLE_EQ(summarise(samples).median, 1.0);
    EXPECT_DOUBLE_EQ(summarise(samples).interval.high, 1.0);
}

TEST(TimeRatio, IsTakenRoundByRoundSoThatASlowSpellCancels) {
    const std::vector<double> machine = {1, 1, 1, 5, 5, 5, 5, 9, 9, 1, 1};  // how slow the machine was in each round
    std::vector<double> yours, solution;
    for (double slowness : machine) {
        yours.push_back(3.0 * slowness);
        solution.push_back(2.0 * slowness);
    }
    const Ratio ratio = time_ratio(samples_of("yours", yours), samples_of("solution", solution));
    EXPECT_DOUBLE_EQ(ratio.value, 1.5);
    EXPECT_DOUBLE_EQ(ratio.interval.low, 1.5);
    EXPECT_DOUBLE_EQ(ratio.interval.high, 1.5);
}

TEST(TimeRatio, OfSamplesFromDifferentRunsThrows) {
    EXPECT_THROW(time_ratio(samples_of("a", {1, 2}), samples_of("b", {1})), std::invalid_argument);
}

TEST(Judge, IsSlowOnlyWhenEvenTheFavourableEndMissesTheLimit) {
    EXPECT_EQ(judge_at_most({1.6, {1.51, 1.7}}, 1.5), Speed::slow);
    EXPECT_EQ(judge_at_most({1.6, {1.45, 1.7}}, 1.5), Speed::unclear);
    EXPECT_EQ(judge_at_most({1.4, {1.35, 1.5}}, 1.5), Speed::fast);
    EXPECT_EQ(judge_at_least({0.4, {0.35, 0.49}}, 0.5), Speed::slow);
    EXPECT_EQ(judge_at_least({0.4, {0.35, 0.51}}, 0.5), Speed::unclear);
    EXPECT_EQ(judge_at_least({0.6, {0.50, 0.7}}, 0.5), Speed::fast);
}

TEST(TimeInterleaved, RunsTheCandidatesInTurn) {
    std::string order;
    FakeClock fake;
    const auto logged = [&](char letter) {
        return Candidate{std::string(1, letter), [&order, &fake, letter] {
                             order += letter;
                             fake.now += 1'000'000;
                         }};
    };
    const std::vector<Candidate> candidates = {logged('a'), logged('b'), logged('c')};
    time_interleaved(candidates, {.warmup_rounds = 1, .min_rounds = 3, .max_rounds = 3, .clock = fake.clock()});
    EXPECT_EQ(order, "abc" /* calls per sample */ "abc" /* warm-up */ "abcabcabc");
}

TEST(TimeInterleaved, ReportsSecondsForOneCallWhenShortCallsAreBatched) {
    FakeClock fake;
    const std::vector<Candidate> candidates = {fake.takes("short", 1'000), fake.takes("long", 3'000'000)};
    const std::vector<Samples> all = time_interleaved(candidates, {.min_sample_seconds = 1e-4, .clock = fake.clock()});
    EXPECT_EQ(all[0].name, "short");
    EXPECT_EQ(all[0].calls_per_sample, 128);
    EXPECT_DOUBLE_EQ(summarise(all[0].seconds).median, 1e-6);
    EXPECT_EQ(all[1].calls_per_sample, 1);
    EXPECT_DOUBLE_EQ(summarise(all[1].seconds).median, 3e-3);
}

TEST(TimeInterleaved, StopsAtTheFewestRoundsWhenTheSamplesAgree) {
    FakeClock fake;
    const std::vector<Candidate> candidates = {fake.takes("steady", 1'000'000)};
    const std::vector<Samples> all =
        time_interleaved(candidates, {.min_rounds = 15, .max_seconds = 100.0, .clock = fake.clock()});
    EXPECT_EQ(all[0].seconds.size(), 15u);
}

TEST(TimeInterleaved, TakesMoreRoundsWhileTheIntervalIsWide) {
    FakeClock fake;
    int call = 0;
    const std::vector<Candidate> candidates = {{"noisy", [&] { fake.now += 1'000'000 + 500'000 * (call++ % 3); }}};
    const std::vector<Samples> all =
        time_interleaved(candidates, {.min_rounds = 11, .max_rounds = 40, .max_seconds = 100, .clock = fake.clock()});
    EXPECT_EQ(all[0].seconds.size(), 40u);
}

TEST(TimeInterleaved, StopsAtTheTimeLimitWithWhatItHas) {
    FakeClock fake;
    const std::vector<Candidate> candidates = {fake.takes("slow", 300'000'000)};
    const std::vector<Samples> all = time_interleaved(candidates, {.max_seconds = 1.0, .clock = fake.clock()});
    // One call to size the sample, two to warm up, then a round before the limit is looked at.
    EXPECT_EQ(all[0].seconds.size(), 1u);
}

TEST(TimeInterleaved, DiscardsARoundDuringWhichTheClockJumpsBackwards) {
    FakeClock fake;
    int call = 0;
    const std::vector<Candidate> candidates = {
        fake.takes("a", 1'000'000),
        {"b", [&] { fake.now += ++call == 6 ? -5'000'000 : 2'000'000; }},
    };
    const std::vector<Samples> all = time_interleaved(candidates, {.min_rounds = 11, .clock = fake.clock()});
    for (const Samples& samples : all) {
        EXPECT_EQ(samples.discarded, 1) << samples.name;
        EXPECT_EQ(samples.seconds.size(), 11u) << samples.name;
    }
    EXPECT_DOUBLE_EQ(summarise(all[1].seconds).p90, 2e-3);
    EXPECT_DOUBLE_EQ(time_ratio(all[1], all[0]).value, 2.0);
}

TEST(TimeInterleaved, ThrowsWhenTheClockNeverMoves) {
    const std::vector<Candidate> candidates = {{"nothing", [] {}}};
    EXPECT_THROW(time_interleaved(candidates, {.max_rounds = 5, .clock = [] { return std::int64_t{0}; }}),
                 std::runtime_error);
}

TEST(TimeInterleaved, ThrowsWithoutCandidates) {
    EXPECT_THROW(time_interleaved({}), std::invalid_argument);
}

TEST(TimeInterleaved, PassesOnWhatACandidateThrows) {
    const std::vector<Candidate> candidates = {{"broken", [] { throw std::logic_error("broken"); }}};
    EXPECT_THROW(time_interleaved(candidates), std::logic_error);
}

// Margin 5, as a test of times must have: the second candidate does fifty times the work of the first.
TEST(TimeInterleaved, TellsFiftyTimesTheWorkApartOnTheRealClock) {
    const auto spin = [](int n) {
        return [n] {
            for (int i = 0; i < n; i++) { asm volatile("" : : : "memory"); }
        };
    };
    const std::vector<Candidate> candidates = {{"little", spin(20'000)}, {"much", spin(1'000'000)}};
    const std::vector<Samples> all = time_interleaved(candidates);
    EXPECT_GT(time_ratio(all[1], all[0]).value, 10.0);
}

TEST(CopyCandidate, HasABandwidthThatAMachineCanHave) {
    constexpr std::size_t kBytes = 32 << 20;
    const std::vector<Candidate> candidates = {copy_candidate(kBytes)};
    const double rate = bandwidth(kBytes, summarise(time_interleaved(candidates)[0].seconds).median);
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e13);
}
