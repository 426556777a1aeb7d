// SPDX-License-Identifier: MIT
#include "checker/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace checker {
namespace {

// Enough for any callable that a clock of microseconds can time.
constexpr int kMaxCallsPerSample = 1 << 16;

// Nanoseconds that `calls` calls took; not positive when the clock is no use.
std::int64_t time_calls(const Candidate& candidate, int calls, const Clock& clock) {
    const std::int64_t begin = clock();
    for (int i = 0; i < calls; i++) { candidate.run(); }
    return clock() - begin;
}

// The smallest power of two of calls that together take at least `min_seconds`.
int calls_for(const Candidate& candidate, double min_seconds, const Clock& clock) {
    int calls = 1;
    while (calls < kMaxCallsPerSample && static_cast<double>(time_calls(candidate, calls, clock)) < min_seconds * 1e9) {
        calls *= 2;
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

std::vector<Samples> time_interleaved(std::span<const Candidate> candidates, const TimingOptions& options) {
    if (candidates.empty()) {
        throw std::invalid_argument("timing: no candidates");
    }
    const std::int64_t begin = options.clock();
    std::vector<Samples> all;
    for (const Candidate& candidate : candidates) {
        all.push_back({.name = candidate.name,
                       .seconds = {},
                       .calls_per_sample = calls_for(candidate, options.min_sample_seconds, options.clock)});
    }
    for (int i = 0; i < options.warmup_rounds; i++) {
        for (const Candidate& candidate : candidates) { candidate.run(); }
    }

    std::vector<std::int64_t> round(candidates.size());
    for (int i = 0; i < options.max_rounds; i++) {
        for (std::size_t c = 0; c < candidates.size(); c++) {
            round[c] = time_calls(candidates[c], all[c].calls_per_sample, options.clock);
        }
        const bool usable = std::all_of(round.begin(), round.end(), [](std::int64_t ns) { return ns > 0; });
        for (std::size_t c = 0; c < candidates.size(); c++) {
            if (usable) {
                all[c].seconds.push_back(static_cast<double>(round[c]) * 1e-9 / all[c].calls_per_sample);
            } else {
                all[c].discarded++;
            }
        }
        const int taken = static_cast<int>(all[0].seconds.size());
        if (taken >= options.min_rounds && std::all_of(all.begin(), all.end(), [&](const Samples& samples) {
                return narrow_enough(samples, options.interval_goal);
            })) {
            break;
        }
        if (static_cast<double>(options.clock() - begin) * 1e-9 >= options.max_seconds) {
            break;
        }
    }
    if (all[0].seconds.empty()) {
        throw std::runtime_error("timing: the clock never moved forward during a round; run the check again");
    }
    return all;
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

Speed judge_at_most(const Ratio& ratio, double limit) {
    if (ratio.interval.low > limit) {
        return Speed::slow;
    }
    return ratio.interval.high <= limit ? Speed::fast : Speed::unclear;
}

Speed judge_at_least(const Ratio& ratio, double limit) {
    if (ratio.interval.high < limit) {
        return Speed::slow;
    }
    return ratio.interval.low >= limit ? Speed::fast : Speed::unclear;
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

double bandwidth(std::size_t bytes, double seconds) {
    return static_cast<double>(bytes) / seconds;
}

}  // namespace checker
