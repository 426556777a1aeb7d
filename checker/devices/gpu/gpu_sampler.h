// SPDX-License-Identifier: MIT
//
// The calibration's samples: of device work by pairs of CUDA events, of host work by the host's clock.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "checker/clock/timing.h"
#include "checker/devices/gpu/event_stopwatch.h"
#include "checker/devices/gpu/gpu_roof.h"

namespace checker {

constexpr int kMinSamples = 20;
constexpr int kMaxSamples = 51;
constexpr int kWarmupSamples = 3;
constexpr int kSpoilt = 10;            // rounds that the doubling of the delay may cost
constexpr double kSecondsEach = 0.25;  // of one measurement, once it has the least number of samples
constexpr double kHurrySeconds = 38;   // from here on no measurement takes more than the least number
constexpr double kLastSeconds = 50;    // none begins after this
constexpr const char* kOutOfTime = "not measured: the time for all of it was up";

class Sampler {
  public:
    Sampler() : events_(stream_.get()), started_(host_.now()) {}

    cudaStream_t stream() const { return stream_.get(); }
    double elapsed() const { return host_.now() - started_; }
    bool out_of_time() const { return elapsed() > kLastSeconds; }

    // Device time of one run of `body`.
    double once(const std::function<void()>& body) const { return events_.once(body); }

    // Samples of `body`, which queues `calls` calls; `prepare` runs before each and is not timed.
    Result on_device(const std::function<void()>& prepare, const std::function<void()>& body, int calls) {
        return sample({"", body, prepare}, calls, events_);
    }

    // Samples of `body`, which does `calls` calls and returns when they are done, by the host's clock.
    Result on_host(const std::function<void()>& body, int calls) {
        check(cudaStreamSynchronize(stream()));
        return sample({"", body}, calls, host_);
    }

    // How often `run(n)` must repeat its work inside to take `seconds`.
    int repeats_for(double seconds, const std::function<void(int)>& run) const {
        constexpr int kMost = 1 << 24;
        once([&] { run(1); });  // loads the kernel
        int repeats = 1;
        for (;;) {
            const double took = once([&] { run(repeats); });
            if (took >= seconds || repeats >= kMost) {
                return repeats;
            }
            // Launching is in `took`, so this falls short at first; never more than 16 times at once.
            const double factor = std::clamp(1.1 * seconds / std::max(took, 1e-6), 1.5, 16.0);
            repeats = static_cast<int>(std::min<double>(kMost, std::ceil(repeats * factor)));
        }
    }

  private:
    Result sample(const Candidate& candidate, int calls, Stopwatch& stopwatch) {
        if (out_of_time()) {
            return not_measured(kOutOfTime);
        }
        const TimingOptions options{.warmup_rounds = kWarmupSamples,
                                    .enough_samples = kMinSamples,
                                    .max_rounds = elapsed() > kHurrySeconds ? kMinSamples + kSpoilt : kMaxSamples,
                                    .max_seconds = kSecondsEach,
                                    .fewest_samples = kMinSamples,
                                    .min_sample_seconds = 0};
        std::vector<double> samples;
        try {
            samples = time_interleaved(std::span(&candidate, 1), options, stopwatch).front().seconds;
        } catch (const std::exception&) {}  // not one sample
        if (samples.size() < kMinSamples) {
            return not_measured("not measured: too few samples had a time that could be right");
        }
        for (double& seconds : samples) { seconds /= calls; }
        Result result;
        result.seconds = summarise(samples);
        result.calls_per_sample = calls;
        return result;
    }

    Stream stream_;
    EventStopwatch events_;
    HostStopwatch host_;
    double started_;
};

}  // namespace checker
