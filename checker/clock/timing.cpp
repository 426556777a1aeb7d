// SPDX-License-Identifier: MIT
#include "checker/clock/timing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace checker {
namespace {

// Enough for any callable that a clock of microseconds can time.
constexpr int kMaxCallsPerSample = 1 << 16;

std::optional<double> time_calls(const Candidate& candidate, int calls, Stopwatch& stopwatch) {
    if (candidate.prepare) {
        candidate.prepare();
    }
    return stopwatch.seconds_of([&] {
        for (int i = 0; i < calls; i++) { candidate.run(); }
    });
}

// The smallest power of two of calls that together take at least `min_seconds`. A sample without a reading says nothing of
// how long the calls take, so it is taken again; where none comes, the clock is too coarse for so few calls.
int calls_for(const Candidate& candidate, double min_seconds, Stopwatch& stopwatch) {
    constexpr int kTries = 10;
    int calls = 1;
    for (; calls < kMaxCallsPerSample; calls *= 2) {
        std::optional<double> seconds;
        for (int i = 0; i < kTries && !seconds; i++) { seconds = time_calls(candidate, calls, stopwatch); }
        if (seconds.value_or(0.0) >= min_seconds) {
            break;
        }
    }
    return calls;
}

bool narrow_enough(const Samples& samples, double goal) {
    const Interval interval = median_interval(samples.seconds);
    return interval.high - interval.low <= goal * quantile(samples.seconds, 0.5);
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

std::optional<double> HostStopwatch::seconds_of(const std::function<void()>& work) {
    const std::int64_t begin = clock_();
    work();
    const std::int64_t took = clock_() - begin;
    return took > 0 ? std::optional(static_cast<double>(took) * 1e-9) : std::nullopt;
}

std::vector<Samples> time_interleaved(std::span<const Candidate> candidates, const TimingOptions& options,
                                      Stopwatch& stopwatch) {
    if (candidates.empty()) {
        throw std::invalid_argument("timing: no candidates");
    }
    const double begin = stopwatch.now();
    std::vector<Samples> all;
    for (const Candidate& candidate : candidates) {
        all.push_back({.name = candidate.name,
                       .seconds = {},
                       .calls_per_sample = calls_for(candidate, options.min_sample_seconds, stopwatch)});
    }
    // Finding the number of calls has warmed up what takes long.
    for (int i = 0; i < options.warmup_rounds && stopwatch.now() - begin < options.max_seconds / 2; i++) {
        for (const Candidate& candidate : candidates) { time_calls(candidate, 1, stopwatch); }
    }

    std::vector<std::optional<double>> round(candidates.size());
    for (int i = 0; i < options.max_rounds; i++) {
        for (std::size_t c = 0; c < candidates.size(); c++) {
            round[c] = time_calls(candidates[c], all[c].calls_per_sample, stopwatch);
        }
        const bool usable = std::ranges::all_of(round, [](const auto& seconds) { return seconds.has_value(); });
        for (std::size_t c = 0; c < candidates.size(); c++) {
            if (usable) {
                all[c].seconds.push_back(*round[c] / all[c].calls_per_sample);
            } else {
                all[c].discarded++;
            }
        }
        const int taken = static_cast<int>(all[0].seconds.size());
        if (taken >= options.min_rounds && std::ranges::all_of(all, [&](const Samples& samples) {
                return narrow_enough(samples, options.interval_goal);
            })) {
            break;
        }
        const double spent = stopwatch.now() - begin;
        if ((spent >= options.max_seconds && i + 1 >= options.fewest_rounds) || spent >= options.last_seconds) {
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

std::string to_string(Rival rival) {
    constexpr std::array<const char*, kRivals> kNames{"solution",   "library", "copy",
                                                      "arithmetic", "older",   "two_threads"};
    return kNames.at(static_cast<std::size_t>(rival));
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

Candidate copy_candidate(std::size_t bytes) {
    // Written once here, so that every page exists before the first copy is timed.
    auto from = std::make_shared<std::vector<std::byte>>(bytes / 2, std::byte{1});
    auto to = std::make_shared<std::vector<std::byte>>(bytes / 2, std::byte{2});
    return {.name = "copy", .run = [from, to] {
                std::memcpy(to->data(), from->data(), from->size());
                asm volatile("" : : "r"(to->data()) : "memory");  // the copy is wanted though nothing reads it
            }};
}

}  // namespace checker
