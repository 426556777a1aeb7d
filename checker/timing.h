// SPDX-License-Identifier: MIT
//
// Timing of several callables against each other. Samples alternate (a, b, c, a, b, c, …), so that a machine that
// slows down for a moment slows all of them; a ratio is taken round by round and its interval is that of the ratios'
// median. Everything but time_interleaved is a pure function of samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace checker {

// Nanoseconds since any fixed moment. Tests pass their own.
using Clock = std::function<std::int64_t()>;
std::int64_t steady_nanoseconds();

struct Candidate {
    std::string name;
    std::function<void()> run;
};

struct TimingOptions {
    int warmup_rounds = 2;             // not recorded
    int min_rounds = 11;               // fewer than 6 samples have no 95% interval
    int max_rounds = 501;              // at least 1
    double max_seconds = 0.5;          // for all candidates together; checked after each round
    double interval_goal = 0.02;       // stop when each median's 95% interval is no wider than this share of it
    double min_sample_seconds = 2e-5;  // a shorter callable is repeated within one sample
    Clock clock = steady_nanoseconds;
};

// One candidate's samples, in the order taken. Sample i of every candidate is from the same round.
struct Samples {
    std::string name;
    std::vector<double> seconds;  // for one call
    int calls_per_sample = 1;
    int discarded = 0;  // rounds thrown away because the clock went backwards or stood still
};

// Warm-up, then rounds of one sample of each candidate until every interval is narrow enough or a limit is reached.
// Throws std::invalid_argument without candidates, std::runtime_error when no round could be timed.
std::vector<Samples> time_interleaved(std::span<const Candidate> candidates, const TimingOptions& options = {});

struct Interval {
    double low = 0;
    double high = 0;
};

// The 95% interval of the median from order statistics, which assumes no distribution: the pair (k-th smallest,
// k-th largest) whose coverage 1 - 2 P(Binomial(n, 1/2) < k) is still at least 95%. Below 6 samples no pair covers
// that much: the result is then (smallest, largest).
Interval median_interval(std::span<const double> samples);

// Linear interpolation between order statistics; q = 0 is the smallest, 0.5 the median, 1 the largest.
double quantile(std::span<const double> samples, double q);

struct Summary {
    double median = 0;
    double p10 = 0;
    double p90 = 0;
    Interval interval;  // of the median, 95%
    std::size_t samples = 0;
};
Summary summarise(std::span<const double> samples);

// How many times as long `a` took as `b`: the median over rounds of a[i] / b[i], and that median's interval.
struct Ratio {
    double value = 0;
    Interval interval;
};
Ratio time_ratio(const Samples& a, const Samples& b);

// A ratio against a limit. `slow` only when even the favourable end of the interval misses the limit.
enum class Speed { fast, slow, unclear };
Speed judge_at_most(const Ratio& ratio, double limit);   // ratio of times: small is fast
Speed judge_at_least(const Ratio& ratio, double limit);  // share of a roof: large is fast

// A candidate that moves `bytes` through memory: reads half of them from one buffer, writes half to another.
// It is the roof of an op that moves as many bytes, taken in the same run.
Candidate copy_candidate(std::size_t bytes);

// Bytes moved a second, from the time of one call.
double bandwidth(std::size_t bytes, double seconds);

}  // namespace checker
