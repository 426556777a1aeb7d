// SPDX-License-Identifier: MIT
#include "checker/clock/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

using namespace checker;

namespace {

// A clock that tests turn by hand: work() advances it, nothing else does.
struct FakeClock {
    std::int64_t now = 1000;
    HostStopwatch stopwatch{[this] { return now; }};
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

TEST(HostStopwatch, OfProcessorTimeCountsWorkAndNoWaiting) {
    using namespace std::chrono_literals;
    HostStopwatch stopwatch(processor_nanoseconds);
    const auto slept = stopwatch.seconds_of([] { std::this_thread::sleep_for(200ms); });
    EXPECT_LT(slept.value_or(0), 0.1);
    const auto worked = stopwatch.seconds_of([] {
        for (const std::int64_t begin = processor_nanoseconds(); processor_nanoseconds() - begin < 20'000'000;) {}
    });
    EXPECT_GE(worked.value_or(0), 0.02);
}

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

TEST(Inverse, TurnsATimeRatioIntoAShareOfTheOthersSpeedAndItsIntervalAround) {
    const Ratio share = inverse({2.0, {1.6, 2.5}});
    EXPECT_DOUBLE_EQ(share.value, 0.5);
    EXPECT_DOUBLE_EQ(share.interval.low, 0.4);
    EXPECT_DOUBLE_EQ(share.interval.high, 0.625);
}

constexpr Shares kShares{.bronze = 0.3, .silver = 0.6, .gold = 0.8};

TEST(SpeedOf, IsSlowOnlyWhenEvenTheFavourableEndMissesBronze) {
    EXPECT_EQ(speed_of({0.25, {0.20, 0.29}}, kShares).speed, Speed::slow);
    EXPECT_EQ(speed_of({0.30, {0.30, 0.35}}, kShares).speed, Speed::fast);
}

TEST(SpeedOf, GivesNoVerdictWhereTheIntervalOverlapsBronze) {
    EXPECT_EQ(speed_of({0.28, {0.25, 0.31}}, kShares).speed, Speed::unclear);
    EXPECT_EQ(speed_of({0.35, {0.29, 0.90}}, kShares).medal, Medal::none);
}

TEST(SpeedOf, GivesTheMedalThatTheUnfavourableEndReaches) {
    EXPECT_EQ(speed_of({0.50, {0.45, 0.59}}, kShares).medal, Medal::bronze);
    EXPECT_EQ(speed_of({0.65, {0.59, 0.70}}, kShares).medal, Medal::bronze);
    EXPECT_EQ(speed_of({0.70, {0.60, 0.79}}, kShares).medal, Medal::silver);
    EXPECT_EQ(speed_of({0.90, {0.80, 1.00}}, kShares).medal, Medal::gold);
}

TEST(SpeedOf, OfNotANumberIsUnclear) {
    const double nan = std::nan("");
    EXPECT_EQ(speed_of({nan, {nan, nan}}, kShares).speed, Speed::unclear);
}

TEST(Impossible, IsARateWhoseLowEndLiesAboveTheRoofByMoreThanTheMargin) {
    EXPECT_FALSE(impossible({0.98, {0.95, 1.02}}, kAboveArithmetic));
    EXPECT_FALSE(impossible({1.08, {1.05, 1.12}}, kAboveArithmetic));  // the roof too is a measurement
    EXPECT_FALSE(impossible({3.00, {1.09, 4.00}}, kAboveArithmetic));  // too wide to tell
    EXPECT_TRUE(impossible({1.30, {1.20, 1.40}}, kAboveArithmetic));
    EXPECT_FALSE(impossible({1.30, {1.20, 1.40}}, kAboveCopy));
    EXPECT_TRUE(impossible({900, {850, 950}}, kAboveCopy));  // nothing was done at all
}

namespace {

// Samples of two implementations on the same machine: yours takes `slower` times the solution's time, each round both
// take machine(round) times that, and each sample a little noise of its own.
struct Pair {
    Samples yours{.name = "yours", .seconds = {}};
    Samples solution{.name = "solution", .seconds = {}};
};
Pair synthetic(double slower, double noise, int rounds, const std::function<double(int)>& machine) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> around(1.0 - noise, 1.0 + noise);
    Pair pair;
    for (int i = 0; i < rounds; i++) {
        pair.yours.seconds.push_back(slower * machine(i) * around(random));
        pair.solution.seconds.push_back(machine(i) * around(random));
    }
    return pair;
}

SpeedVerdict verdict_of(const Pair& pair, const Shares& target) {
    return speed_of(inverse(time_ratio(pair.yours, pair.solution)), target);
}

constexpr Shares kOfSolution{.bronze = 0.77, .silver = 0.85, .gold = 0.92};

}  // namespace

TEST(SyntheticSamples, OfEqualSpeedEarnGold) {
    EXPECT_EQ(verdict_of(synthetic(1.0, 0.02, 41, [](int) { return 1.0; }), kOfSolution).medal, Medal::gold);
}

TEST(SyntheticSamples, ThatOverlapTheTargetHaveNoVerdict) {
    const Pair pair = synthetic(1.0 / 0.77, 0.10, 41, [](int) { return 1.0; });
    EXPECT_EQ(verdict_of(pair, kOfSolution).speed, Speed::unclear);
}

TEST(SyntheticSamples, OfAMachineThatDriftsToTwiceTheTimeAreJudgedAsWithoutDrift) {
    const auto drifting = [](int i) { return 1.0 + i / 40.0; };
    EXPECT_EQ(verdict_of(synthetic(1.0, 0.02, 41, drifting), kOfSolution).medal, Medal::gold);
    EXPECT_EQ(verdict_of(synthetic(1.5, 0.02, 41, drifting), kOfSolution).speed, Speed::slow);
}

TEST(SyntheticSamples, WithAFifthOfOutliersAreJudgedAsWithoutThem) {
    Pair pair = synthetic(1.0, 0.02, 41, [](int) { return 1.0; });
    for (std::size_t i = 0; i < pair.yours.seconds.size(); i += 5) { pair.yours.seconds[i] *= 50; }
    EXPECT_EQ(verdict_of(pair, kOfSolution).medal, Medal::gold);
    EXPECT_LT(summarise(pair.yours.seconds).median, 1.1);
    EXPECT_GT(summarise(pair.yours.seconds).p90, 10.0);  // but the report shows them
}

TEST(SyntheticSamples, OfAMachineWithTwoSpeedsAreJudgedByTheRatioOfEachRound) {
    const auto bimodal = [](int i) { return i % 3 == 0 ? 2.0 : 1.0; };
    EXPECT_EQ(verdict_of(synthetic(1.0, 0.02, 41, bimodal), kOfSolution).medal, Medal::gold);
    EXPECT_EQ(verdict_of(synthetic(1.5, 0.02, 41, bimodal), kOfSolution).speed, Speed::slow);
}

TEST(SyntheticSamples, ThatAreThemselvesBimodalAreWideAndHaveNoVerdict) {
    Pair pair = synthetic(1.0, 0.02, 40, [](int) { return 1.0; });
    for (std::size_t i = 0; i < pair.yours.seconds.size(); i += 2) { pair.yours.seconds[i] *= 2; }
    EXPECT_EQ(verdict_of(pair, kOfSolution).speed, Speed::unclear);
}

namespace {

// The order of `rounds` rounds of three candidates, without what comes before: "cab", "bac", …
std::vector<std::string> orders(int rounds, std::uint64_t seed) {
    std::string order;
    FakeClock fake;
    const auto logged = [&](char letter) {
        return Candidate{std::string(1, letter), [&order, &fake, letter] {
                             order += letter;
                             fake.now += 1'000'000;
                         }};
    };
    const std::vector<Candidate> candidates = {logged('a'), logged('b'), logged('c')};
    time_interleaved(candidates, {.warmup_rounds = 1, .enough_samples = rounds, .max_rounds = rounds, .seed = seed},
                     fake.stopwatch);
    EXPECT_EQ(order.substr(0, 6), "abc" /* calls per sample */ "abc" /* warm-up */);
    std::vector<std::string> result;
    for (std::size_t i = 6; i < order.size(); i += 3) { result.push_back(order.substr(i, 3)); }
    return result;
}

}  // namespace

TEST(TimeInterleaved, RunsEachCandidateOnceInARoundAndGoesBackTheSameWayInTheNext) {
    const std::vector<std::string> rounds = orders(40, 1);
    ASSERT_EQ(rounds.size(), 40u);
    for (std::size_t i = 0; i < rounds.size(); i += 2) {
        EXPECT_TRUE(std::ranges::is_permutation(rounds[i], std::string("abc"))) << rounds[i];
        EXPECT_EQ(rounds[i + 1], std::string(rounds[i].rbegin(), rounds[i].rend()));
    }
    EXPECT_NE(rounds, orders(40, 2));
    EXPECT_EQ(std::set<std::string>(rounds.begin(), rounds.end()).size(), 6u);  // each order there is
}

// As in lesson 01: the copy leaves nothing of the inputs in the caches, an encoder leaves all of them to whoever is next.
TEST(TimeInterleaved, GivesNoneOfTwoEqualCandidatesTheBetterPlaceInTheRounds) {
    FakeClock fake;
    bool warm = false;
    const auto encoder = [&](const char* name) {
        return Candidate{name, [&] { fake.now += std::exchange(warm, true) ? 1'000'000 : 1'100'000; }};
    };
    const std::vector<Candidate> candidates = {encoder("yours"), encoder("solution"), {"copy", [&] {
                                                                                           warm = false;
                                                                                           fake.now += 1'000'000;
                                                                                       }}};
    const std::vector<Samples> all =
        time_interleaved(candidates, {.enough_samples = 40, .max_rounds = 40, .max_seconds = 100}, fake.stopwatch);
    const Interval interval = time_ratio(all[0], all[1]).interval;
    EXPECT_LE(interval.low, 1.0);
    EXPECT_GE(interval.high, 1.0);
    const auto cold = [](const Samples& samples) {
        return std::ranges::count_if(samples.seconds, [](double seconds) { return seconds > 1.05e-3; });
    };
    EXPECT_NEAR(static_cast<double>(cold(all[0])), static_cast<double>(cold(all[1])), 8);
}

TEST(TimeInterleaved, RepeatsEqualCandidatesAsOftenThoughTheFirstCallOfAllFindsTheCachesEmpty) {
    FakeClock fake;
    bool first = true;
    const auto takes = [&](const char* name) {
        return Candidate{name, [&] { fake.now += std::exchange(first, false) ? 50'000 : 6'000; }};
    };
    const std::vector<Candidate> candidates = {takes("yours"), takes("solution")};
    const std::vector<Samples> all = time_interleaved(candidates, {.min_sample_seconds = 2e-5}, fake.stopwatch);
    EXPECT_EQ(all[0].calls_per_sample, 4);
    EXPECT_EQ(all[1].calls_per_sample, 4);
}

// The first call of each sample is a cold one: where it is one of four of the one and the only one of the other, the other
// seems slower than it is.
TEST(TimeInterleaved, RepeatsAllCandidatesAsOftenAsTheShortestAsLongAsTheirSamplesStayShort) {
    FakeClock fake;
    const std::vector<Candidate> candidates = {fake.takes("short", 6'000), fake.takes("longer", 25'000),
                                               fake.takes("long", 400'000)};
    const std::vector<Samples> all = time_interleaved(candidates, {.min_sample_seconds = 2e-5}, fake.stopwatch);
    EXPECT_EQ(all[0].calls_per_sample, 4);
    EXPECT_EQ(all[1].calls_per_sample, 4);
    EXPECT_EQ(all[2].calls_per_sample, 2);
}

TEST(TimeInterleaved, ReportsSecondsForOneCallWhenShortCallsAreBatched) {
    FakeClock fake;
    const std::vector<Candidate> candidates = {fake.takes("short", 1'000), fake.takes("long", 3'000'000)};
    const std::vector<Samples> all = time_interleaved(candidates, {.min_sample_seconds = 1e-4}, fake.stopwatch);
    EXPECT_EQ(all[0].name, "short");
    EXPECT_EQ(all[0].calls_per_sample, 128);
    EXPECT_DOUBLE_EQ(summarise(all[0].seconds).median, 1e-6);
    EXPECT_EQ(all[1].calls_per_sample, 1);
    EXPECT_DOUBLE_EQ(summarise(all[1].seconds).median, 3e-3);
}

TEST(TimeInterleaved, ReportsSecondsForOneCallWhereARunMakesSeveral) {
    FakeClock fake;
    std::vector<Candidate> candidates = {fake.takes("sixteen", 64'000)};
    candidates.front().calls = 16;
    EXPECT_DOUBLE_EQ(summarise(time_interleaved(candidates, {}, fake.stopwatch)[0].seconds).median, 4e-6);
}

TEST(TimeInterleaved, StopsAtTheFewestRoundsWhenTheSamplesAgree) {
    FakeClock fake;
    const std::vector<Candidate> candidates = {fake.takes("steady", 1'000'000)};
    const std::vector<Samples> all =
        time_interleaved(candidates, {.enough_samples = 15, .max_seconds = 100.0}, fake.stopwatch);
    EXPECT_EQ(all[0].seconds.size(), 15u);
}

TEST(TimeInterleaved, TakesMoreRoundsWhileTheIntervalIsWide) {
    FakeClock fake;
    int call = 0;
    const std::vector<Candidate> candidates = {{"noisy", [&] { fake.now += 1'000'000 + 500'000 * (call++ % 3); }}};
    const std::vector<Samples> all =
        time_interleaved(candidates, {.enough_samples = 11, .max_rounds = 40, .max_seconds = 100}, fake.stopwatch);
    EXPECT_EQ(all[0].seconds.size(), 40u);
}

// A median of 1 ms whose interval reaches far above it and hardly below: no wider in all than twice what is asked for.
TEST(TimeInterleaved, TakesMoreRoundsWhileOneEndOfTheIntervalIsTooFar) {
    FakeClock fake;
    int call = 0;
    const std::vector<Candidate> candidates = {{"skewed", [&] { fake.now += call++ % 5 < 3 ? 1'000'000 : 1'016'000; }}};
    const auto rounds = [&](double goal) {
        call = 0;
        return time_interleaved(candidates,
                                {.enough_samples = 11, .max_rounds = 40, .max_seconds = 100, .interval_goal = goal},
                                fake.stopwatch)[0]
            .seconds.size();
    };
    EXPECT_EQ(rounds(0.02), 11U);
    EXPECT_GT(rounds(0.01), 11U);
}

TEST(TimeInterleaved, StopsAtTheTimeLimitOnceAnIntervalCanBeGiven) {
    FakeClock fake;
    const std::vector<Candidate> candidates = {fake.takes("slow", 300'000'000)};
    const std::vector<Samples> all = time_interleaved(candidates, {.max_seconds = 1.0}, fake.stopwatch);
    EXPECT_EQ(all[0].seconds.size(), 6u);
}

TEST(TimeInterleaved, StopsAtTheLastSecondWithWhatItHas) {
    FakeClock fake;
    const std::vector<Candidate> candidates = {fake.takes("very slow", 5'000'000'000)};
    const std::vector<Samples> all = time_interleaved(candidates, {.last_seconds = 22}, fake.stopwatch);
    // One call to size the sample, then rounds until 22 s are over.
    EXPECT_EQ(all[0].seconds.size(), 4u);
}

TEST(TimeInterleaved, PreparesBeforeEachSampleOutsideTheTime) {
    FakeClock fake;
    int prepared = 0;
    const std::vector<Candidate> candidates = {{"a", [&] { fake.now += 1'000'000; },
                                                [&] {
                                                    prepared++;
                                                    fake.now += 7'000'000;
                                                }}};
    const std::vector<Samples> all =
        time_interleaved(candidates, {.warmup_rounds = 1, .enough_samples = 3, .max_rounds = 3}, fake.stopwatch);
    EXPECT_EQ(prepared, 1 /* calls per sample */ + 1 /* warm-up */ + 3);
    EXPECT_DOUBLE_EQ(summarise(all[0].seconds).median, 1e-3);
}

TEST(TimeInterleaved, DiscardsARoundDuringWhichTheClockJumpsBackwards) {
    FakeClock fake;
    int call = 0;
    const std::vector<Candidate> candidates = {
        fake.takes("a", 1'000'000),
        {"b", [&] { fake.now += ++call == 6 ? -5'000'000 : 2'000'000; }},
    };
    const std::vector<Samples> all = time_interleaved(candidates, {.enough_samples = 11}, fake.stopwatch);
    for (const Samples& samples : all) {
        EXPECT_EQ(samples.discarded, 1) << samples.name;
        EXPECT_EQ(samples.seconds.size(), 11u) << samples.name;
    }
    EXPECT_DOUBLE_EQ(summarise(all[1].seconds).p90, 2e-3);
    EXPECT_DOUBLE_EQ(time_ratio(all[1], all[0]).value, 2.0);
}

namespace {

// A second a call; what a bad reading is, says `is_bad` of the call's number from 1.
std::vector<Samples> with_bad_readings(const std::function<bool(int)>& is_bad, TimingOptions options) {
    struct Unreliable final : Stopwatch {
        std::function<bool(int)> is_bad;
        int calls = 0;
        std::optional<double> seconds_of(const std::function<void()>& work) override {
            work();
            return is_bad(++calls) ? std::nullopt : std::optional(1.0);
        }
        double now() const override { return calls; }
    } stopwatch;
    stopwatch.is_bad = is_bad;
    const Candidate candidate{"slow", [] {}};
    options.warmup_rounds = 0;
    return time_interleaved(std::span(&candidate, 1), options, stopwatch);
}

TEST(BusyTime, CountsWhatOverlapsOnceAndLeavesGapsOut) {
    EXPECT_EQ(checker::covered({}), 0);
    EXPECT_EQ(checker::covered({{5, 7}, {0, 2}}), 4);
    EXPECT_EQ(checker::covered({{0, 10}, {2, 3}, {4, 12}, {12, 13}}), 13) << "one within, one across, one right behind";
}

TEST(BusyTime, ACandidateWithAStopwatchOfItsOwnIsTimedByThatInTheSameRounds) {
    struct Twice final : checker::Stopwatch {
        std::optional<double> seconds_of(const std::function<void()>& work) override {
            work();
            return 2;
        }
        double now() const override { return 0; }
    } twice;
    std::int64_t now = 0;
    checker::HostStopwatch host([&] { return now; });
    const auto takes_eight = [&] { now += 8'000'000'000; };
    const std::vector<checker::Candidate> candidates{{"wall", takes_eight, {}, nullptr},
                                                     {"busy", takes_eight, {}, &twice}};
    const auto samples = checker::time_interleaved(candidates, {.max_rounds = 6}, host);
    ASSERT_EQ(samples[1].seconds.size(), samples[0].seconds.size());
    EXPECT_EQ(checker::inverse(checker::time_ratio(samples[0], samples[1])).value, 0.25);
}

TEST(BusyTime, AGapIsFastWhereItIsAtMostSoLong) {
    const Shares target{4e-6, 2e-6, 1.3e-6};
    const auto of = [&](double low, double high) {
        return checker::at_most({.median = (low + high) / 2, .interval = {low, high}}, target);
    };
    EXPECT_EQ(of(1.0e-6, 1.29e-6).medal, Medal::gold);
    EXPECT_EQ(of(1.0e-6, 1.31e-6).medal, Medal::silver);
    EXPECT_EQ(of(-1e-8, 1e-8).medal, Medal::gold) << "the two times are from two calls of a round";
    EXPECT_EQ(of(3.9e-6, 4.1e-6).speed, Speed::unclear);
    EXPECT_EQ(of(4.1e-6, 4.2e-6).speed, Speed::slow);
}

}  // namespace

// The first call only says how many there are in a sample.
TEST(TimeInterleaved, GoesOnPastTheTimeLimitUntilAnIntervalCanBeGivenThoughSomeReadingsWereThrownAway) {
    const std::vector<Samples> all = with_bad_readings([](int call) { return call == 3 || call == 5; },
                                                       {.max_seconds = 1, .fewest_samples = 6, .last_seconds = 100});
    EXPECT_EQ(all[0].seconds.size(), 6u);
    EXPECT_EQ(all[0].discarded, 2);
}

TEST(TimeInterleaved, EndsAtTheLastSecondThoughNearlyAllReadingsAreThrownAway) {
    const std::vector<Samples> all = with_bad_readings([](int call) { return call > 3; },
                                                       {.max_seconds = 1, .fewest_samples = 6, .last_seconds = 20});
    EXPECT_EQ(all[0].seconds.size(), 2u);
    EXPECT_EQ(all[0].discarded, 17);
}

TEST(TimeInterleaved, TakesASampleWithoutAReadingAgainInsteadOfDoublingItsCalls) {
    // As CUDA events: the first readings come too late to be right.
    struct Late final : Stopwatch {
        int left = 5;
        double time = 0;
        std::optional<double> seconds_of(const std::function<void()>& work) override {
            work();
            return left-- > 0 ? std::nullopt : std::optional(1e-3);
        }
        double now() const override { return time; }
    } stopwatch;
    const Candidate candidate{"slow", [&] { stopwatch.time += 1e-3; }};
    const std::vector<Samples> all = time_interleaved(std::span(&candidate, 1), {.max_rounds = 3}, stopwatch);
    EXPECT_EQ(all[0].calls_per_sample, 1);
}

TEST(TimeInterleaved, ThrowsWhenTheClockNeverMoves) {
    const std::vector<Candidate> candidates = {{"nothing", [] {}}};
    HostStopwatch stopwatch([] { return std::int64_t{0}; });
    EXPECT_THROW(time_interleaved(candidates, {.max_rounds = 5}, stopwatch), std::runtime_error);
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

TEST(ReadCandidate, ReadsItsBytesAndDoesNotWrite) {
    constexpr std::size_t kBytes = 32 << 20;
    const std::vector<Candidate> candidates = {read_candidate(kBytes), read_candidate(kBytes / 16)};
    const std::vector<Samples> all = time_interleaved(candidates);
    EXPECT_LT(kBytes / summarise(all[0].seconds).median, 1e13);
    EXPECT_GT(time_ratio(all[0], all[1]).value, 4.0);
}

TEST(CopyCandidate, HasABandwidthThatAMachineCanHave) {
    constexpr std::size_t kBytes = 32 << 20;
    const std::vector<Candidate> candidates = {copy_candidate(kBytes)};
    const double rate = kBytes / summarise(time_interleaved(candidates)[0].seconds).median;
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e13);
}
