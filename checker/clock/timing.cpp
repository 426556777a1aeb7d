// SPDX-License-Identifier: MIT
#include "checker/clock/timing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <stdexcept>

namespace checker {
namespace {

// Enough for any callable that a clock of microseconds can time.
constexpr int kMaxCallsPerSample = 1 << 16;

std::optional<double> time_calls(const Candidate& candidate, int calls, Stopwatch& stopwatch) {
    if (candidate.prepare) {
        candidate.prepare();
    }
    return (candidate.stopwatch != nullptr ? *candidate.stopwatch : stopwatch).seconds_of([&] {
        for (int i = 0; i < calls; i++) { candidate.run(); }
    });
}

// Calls that one sample repeats, and the seconds that one of them then takes.
struct Repeated {
    int calls = 1;
    double seconds = 0;
};

// How a sample that lasts so long finds the caches matters little: it need not be taken or repeated again.
constexpr double kLongSample = 1e-3;

// The smallest power of two of calls that together take at least `min_seconds`. A short sample is taken three times and
// the least counts: the first call of all finds nothing in the caches. A sample without a reading says nothing of how long
// the calls take, so it is taken again; where none comes, the clock is too coarse for so few calls.
Repeated repeated(const Candidate& candidate, double min_seconds, Stopwatch& stopwatch) {
    constexpr int kTries = 10;
    constexpr int kReadings = 3;
    Repeated result;
    for (; result.calls < kMaxCallsPerSample; result.calls *= 2) {
        std::optional<double> least;
        for (int i = 0, readings = 0; i < kTries && readings < kReadings && least.value_or(0.0) < kLongSample; i++) {
            if (const std::optional<double> seconds = time_calls(candidate, result.calls, stopwatch)) {
                least = std::min(least.value_or(*seconds), *seconds);
                readings++;
            }
        }
        result.seconds = least.value_or(0.0) / result.calls;
        if (least.value_or(0.0) >= min_seconds) {
            break;
        }
    }
    return result;
}

// All candidates repeat as many calls, as far as their samples stay short: the first call of a sample is slower than the
// others, and must weigh as much for each.
std::vector<int> calls_per_sample(std::span<const Candidate> candidates, double min_seconds, Stopwatch& stopwatch) {
    std::vector<Repeated> all;
    int most = 1;
    for (const Candidate& candidate : candidates) {
        all.push_back(repeated(candidate, min_seconds, stopwatch));
        most = std::max(most, all.back().calls);
    }
    std::vector<int> calls;
    for (const Repeated& one : all) {
        calls.push_back(one.calls);
        while (calls.back() < most && 2 * calls.back() * one.seconds <= kLongSample) { calls.back() *= 2; }
    }
    return calls;
}

bool narrow_enough(const Samples& samples, double goal) {
    const Interval interval = median_interval(samples.seconds);
    const double median = quantile(samples.seconds, 0.5);
    return interval.high <= (1 + goal) * median && interval.low >= (1 - goal) * median;
}

std::vector<double> sorted(std::span<const double> samples) {
    if (samples.empty()) {
        throw std::invalid_argument("timing: no samples");
    }
    std::vector<double> order(samples.begin(), samples.end());
    std::sort(order.begin(), order.end());
    return order;
}

}  // namespace

std::int64_t steady_nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::int64_t processor_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::uint64_t covered(std::vector<Span> spans) {
    std::ranges::sort(spans, {}, &Span::begin);
    std::uint64_t sum = 0, end = 0;
    for (const Span& span : spans) {
        const std::uint64_t begin = std::max(span.begin, end);
        sum += span.end > begin ? span.end - begin : 0;
        end = std::max(end, span.end);
    }
    return sum;
}

std::optional<double> HostStopwatch::seconds_of(const std::function<void()>& work) {
    const std::int64_t begin = clock_();
    work();
    const std::int64_t took = clock_() - begin;
    return took > 0 ? std::optional(static_cast<double>(took) * 1e-9) : std::nullopt;
}

double least_seconds(const Candidate& candidate, Stopwatch& stopwatch) {
    return repeated(candidate, 0, stopwatch).seconds;
}

std::vector<Samples> time_interleaved(std::span<const Candidate> candidates, const TimingOptions& options,
                                      Stopwatch& stopwatch) {
    if (candidates.empty()) {
        throw std::invalid_argument("timing: no candidates");
    }
    const double begin = stopwatch.now();
    const std::vector<int> calls = calls_per_sample(candidates, options.min_sample_seconds, stopwatch);
    std::vector<Samples> all;
    for (std::size_t c = 0; c < candidates.size(); c++) {
        all.push_back({.name = candidates[c].name, .seconds = {}, .calls_per_sample = calls[c]});
    }
    // Finding the number of calls has warmed up what takes long.
    for (int i = 0; i < options.warmup_rounds && stopwatch.now() - begin < options.max_seconds / 2; i++) {
        for (const Candidate& candidate : candidates) { time_calls(candidate, 1, stopwatch); }
    }

    std::vector<std::optional<double>> round(candidates.size());
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(options.seed);
    int next_look = options.enough_samples;
    for (int i = 0; i < options.max_rounds; i++) {
        if (i % 2 == 0) {
            std::ranges::shuffle(order, random);
        } else {
            std::ranges::reverse(order);
        }
        for (const std::size_t c : order) { round[c] = time_calls(candidates[c], all[c].calls_per_sample, stopwatch); }
        const bool usable = std::ranges::all_of(round, [](const auto& seconds) { return seconds.has_value(); });
        for (std::size_t c = 0; c < candidates.size(); c++) {
            if (usable) {
                all[c].seconds.push_back(*round[c] / (all[c].calls_per_sample * candidates[c].calls));
            } else {
                all[c].discarded++;
            }
        }
        const int taken = static_cast<int>(all[0].seconds.size());
        if (usable && taken >= next_look) {
            if (std::ranges::all_of(
                    all, [&](const Samples& samples) { return narrow_enough(samples, options.interval_goal); })) {
                break;
            }
            next_look = taken + 1 + taken / 20;  // sorting thousands of samples takes longer than a round
        }
        const double spent = stopwatch.now() - begin;
        if ((spent >= options.max_seconds && taken >= options.fewest_samples) || spent >= options.last_seconds) {
            break;
        }
    }
    if (all[0].seconds.empty()) {
        throw std::runtime_error("timing: no round had a time that could be right; run the check again");
    }
    return all;
}

std::vector<Samples> time_interleaved(std::span<const Candidate> candidates, const TimingOptions& options) {
    HostStopwatch stopwatch;
    return time_interleaved(candidates, options, stopwatch);
}

Interval median_interval(std::span<const double> samples) {
    const std::vector<double> order = sorted(samples);
    const std::size_t n = order.size();
    // The largest k with below = P(Binomial(n, 1/2) < k) at most 2.5%. Terms by logarithm: 2^-n underflows for large n.
    const auto log_factorial = [](std::size_t m) { return std::lgamma(static_cast<double>(m) + 1); };
    const double log_scale = log_factorial(n) - static_cast<double>(n) * std::log(2.0);
    double below = 0;
    std::size_t k = 0;
    for (; 2 * k < n; k++) {
        below += std::exp(log_scale - log_factorial(k) - log_factorial(n - k));
        if (below > 0.025) {
            break;
        }
    }
    if (k == 0) {
        return {order.front(), order.back()};
    }
    return {order[k - 1], order[n - k]};
}

double quantile(std::span<const double> samples, double q) {
    const std::vector<double> order = sorted(samples);
    const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(order.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, order.size() - 1);
    return std::lerp(order[below], order[above], position - static_cast<double>(below));
}

Summary summarise(std::span<const double> samples) {
    return {.median = quantile(samples, 0.5),
            .p10 = quantile(samples, 0.1),
            .p90 = quantile(samples, 0.9),
            .interval = median_interval(samples),
            .samples = samples.size()};
}

Ratio time_ratio(const Samples& a, const Samples& b) {
    if (a.seconds.size() != b.seconds.size()) {
        throw std::invalid_argument("timing: " + a.name + " and " + b.name + " were not timed in the same rounds");
    }
    std::vector<double> ratios(a.seconds.size());
    std::transform(a.seconds.begin(), a.seconds.end(), b.seconds.begin(), ratios.begin(), std::divides<>());
    return {.value = quantile(ratios, 0.5), .interval = median_interval(ratios)};
}

Ratio inverse(const Ratio& ratio) {
    return {1.0 / ratio.value, {1.0 / ratio.interval.high, 1.0 / ratio.interval.low}};
}

std::string to_string(Baseline baseline) {
    constexpr std::array<const char*, kRivals> kNames{"solution",   "library", "copy",        "read",
                                                      "arithmetic", "older",   "two_threads", "busy"};
    return kNames.at(static_cast<std::size_t>(baseline));
}

std::string to_string(Medal medal) {
    switch (medal) {
        case Medal::bronze:
            return "bronze";
        case Medal::silver:
            return "silver";
        case Medal::gold:
            return "gold";
        case Medal::none:
            break;
    }
    return "";
}

double Shares::of(Medal medal) const {
    return medal == Medal::gold ? gold : medal == Medal::silver ? silver : bronze;
}

SpeedVerdict speed_of(const Ratio& share, const Shares& target) {
    if (share.interval.high < target.bronze) {
        return {Speed::slow, Medal::none};
    }
    if (!(share.interval.low >= target.bronze)) {
        return {Speed::unclear, Medal::none};
    }
    return {Speed::fast, share.interval.low >= target.gold     ? Medal::gold
                         : share.interval.low >= target.silver ? Medal::silver
                                                               : Medal::bronze};
}

SpeedVerdict at_most(const Summary& seconds, const Shares& target) {
    const auto speed = [](double time) {
        return 1 / std::max(time, 1e-15);
    };  // where there is no gap a time is 0, or less
    return speed_of({speed(seconds.median), {speed(seconds.interval.high), speed(seconds.interval.low)}},
                    {speed(target.bronze), speed(target.silver), speed(target.gold)});
}

Candidate copy_candidate(std::size_t bytes) {
    // Both halves begin with a page: a target some bytes further into its page than the source into its own is copied
    // several times slower by some processors (Zen 4). Written once here, so that every page exists before the first copy
    // is timed.
    constexpr std::size_t kPage = 4096;
    const std::size_t half = bytes / 2, mapped = (half / kPage + 1) * kPage;
    const std::shared_ptr<std::byte> memory(static_cast<std::byte*>(std::aligned_alloc(kPage, 2 * mapped)), std::free);
    if (!memory) {
        throw std::bad_alloc();
    }
    std::memset(memory.get(), 1, 2 * mapped);
    return {.name = "copy", .run = [memory, half, mapped] {
                std::memcpy(memory.get() + mapped, memory.get(), half);
                asm volatile("" : : "r"(memory.get()) : "memory");  // the copy is wanted though nothing reads it
            }};
}

Candidate read_candidate(std::size_t bytes) {
    const auto memory = std::make_shared<std::vector<std::uint64_t>>(bytes / sizeof(std::uint64_t) + 1, 1);
    return {.name = "read", .run = [memory] {
                const std::uint64_t sum = std::accumulate(memory->begin(), memory->end(), std::uint64_t{0});
                asm volatile("" : : "r"(sum));  // the sum is wanted though nothing uses it
            }};
}

}  // namespace checker
