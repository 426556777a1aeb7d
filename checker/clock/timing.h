// SPDX-License-Identifier: MIT
//
// Timing of several callables against each other. Samples alternate, so that a machine that slows down for a moment slows
// all of them; a ratio is taken round by round and its interval is that of the ratios' median. What a callable finds in
// the caches depends on which one ran before it: so the order of a round is drawn, and the next round goes back the same
// way (b, a, c, c, a, b, …). Everything but time_interleaved is a pure function of samples. A stopwatch takes the time: the host's clock
// here, CUDA events in event_stopwatch.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace checker {

class Stopwatch {
  public:
    virtual ~Stopwatch() = default;
    // Seconds from before `work` begins until all that it does or queues is done; nothing where the reading cannot be
    // right: a clock that went backwards or stood still, a queue that ran dry.
    virtual std::optional<double> seconds_of(const std::function<void()>& work) = 0;
    // Seconds since any fixed moment, by the host's clock: what time limits count.
    virtual double now() const = 0;
};

// Nanoseconds since any fixed moment. Tests pass their own.
using Clock = std::function<std::int64_t()>;
std::int64_t steady_nanoseconds();
std::int64_t processor_nanoseconds();  // that processors have worked for this process, all its threads together

// The time in which a device works on what `work` queues, without the gaps between; what overlaps counts once.
class BusyStopwatch : public Stopwatch {
  public:
    virtual std::size_t nodes() const = 0;  // kernels, copies and memsets of the last reading
    // Returns the names of the kernels that `work` launches, in order of their start.
    virtual std::vector<std::string> kernels_of(const std::function<void()>& work) = 0;
};

// Something that began and ended, in nanoseconds since any fixed moment; and the nanoseconds in which at least one was
// going on. Whole numbers: a double has no nanoseconds left at the date of today.
struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};
std::uint64_t covered(std::vector<Span> spans);

class HostStopwatch final : public Stopwatch {
  public:
    explicit HostStopwatch(Clock clock = steady_nanoseconds) : clock_(std::move(clock)) {}
    std::optional<double> seconds_of(const std::function<void()>& work) override;
    double now() const override { return static_cast<double>(clock_()) * 1e-9; }

  private:
    Clock clock_;
};

struct Candidate {
    std::string name;
    std::function<void()> run;
    std::function<void()> prepare = {};  // before each sample, not timed
    Stopwatch* stopwatch = nullptr;      // its own, where another time than the others' is taken of it
    int calls = 1;                       // that one run makes: the time of a run is shared among them
};

// The least of a few samples of one run; 0 where the clock says nothing of it.
double least_seconds(const Candidate& candidate, Stopwatch& stopwatch);

struct TimingOptions {
    int warmup_rounds = 2;             // not recorded; no more once half of max_seconds is over
    int enough_samples = 11;           // of each candidate, where their intervals are narrow
    int max_rounds = 501;              // at least 1; a round that is thrown away counts
    double max_seconds = 0.5;          // for all candidates together, looked at after each round …
    int fewest_samples = 6;            // … once there are so many of each: fewer have no 95% interval
    double last_seconds = 20;          // this ends it whatever there is
    double interval_goal = 0.01;       // stop when each median's 95% interval ends at most this share of it away
    std::uint64_t seed = 0;            // of the order in the rounds: one that is always the same favours somebody
    double min_sample_seconds = 2e-5;  // a shorter callable is repeated within one sample, and the others with it
};

// One candidate's samples, in the order taken. Sample i of every candidate is from the same round.
struct Samples {
    std::string name;
    std::vector<double> seconds;  // for one call
    int calls_per_sample = 1;
    int discarded = 0;  // rounds thrown away because a reading could not be right
};

// Warm-up, then rounds of one sample of each candidate until every interval is narrow enough or a limit is reached. The
// intervals are looked at after each round, and once there are many samples after each twentieth more of them.
// Throws std::invalid_argument without candidates, std::runtime_error when no round could be timed.
std::vector<Samples> time_interleaved(std::span<const Candidate> candidates, const TimingOptions& options,
                                      Stopwatch& stopwatch);
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

// The other way round: of a time over another's, the share of the other's speed.
Ratio inverse(const Ratio& ratio);

// What an implementation is timed against, in the same rounds.
enum class Baseline : std::uint32_t {
    solution,
    library,      // the vendor's routine
    copy,         // of as many bytes
    read,         // a read of as many bytes, for an op that writes next to nothing
    arithmetic,   // multiply-adds in registers
    older,        // the newest older solution of the op
    two_threads,  // the same implementation on two threads
    busy,         // the device itself, if it never waited between the same implementation's pieces of work
};
constexpr std::size_t kRivals = 8;
// Returns "solution", "library", "copy", "read", "arithmetic", "older", "two_threads" or "busy".
std::string to_string(Baseline baseline);

// Shares of another's speed that earn a medal. A lesson is passed with bronze.
enum class Medal { none, bronze, silver, gold };
std::string to_string(Medal medal);  // "", "bronze", "silver", "gold"
struct Shares {
    double bronze = 0;
    double silver = 0;
    double gold = 0;
    double of(Medal medal) const;
};

// A share of another's speed against what is asked for. `slow` only when even the favourable end of the interval misses
// bronze, `fast` only when the unfavourable end reaches it; the medal is the best that this end reaches.
enum class Speed { fast, slow, unclear };
struct SpeedVerdict {
    Speed speed = Speed::unclear;
    Medal medal = Medal::none;
};
SpeedVerdict speed_of(const Ratio& share, const Shares& target);

// The same of a time against what it may be at most: bronze is the longest.
SpeedVerdict at_most(const Summary& seconds, const Shares& target);

// A rate that no machine can have: even the low end of the interval lies above the roof by more than the margin. The
// roof of arithmetic is measured and steady. A copy is not the fastest way to touch as many bytes, since reading is
// cheaper than writing: hence the wider margin.
constexpr double kAboveArithmetic = 1.1;
constexpr double kAboveCopy = 2.0;
inline bool impossible(const Ratio& share_of_roof, double margin) {
    return share_of_roof.interval.low > margin;
}

// A candidate that moves `bytes` through memory: reads half of them from one buffer, writes half to another.
// It is the roof of an op that moves as many bytes, taken in the same run.
Candidate copy_candidate(std::size_t bytes);
// Reads `bytes` of memory of its own.
Candidate read_candidate(std::size_t bytes);

}  // namespace checker
