// SPDX-License-Identifier: MIT
//
// Samples of device work by pairs of CUDA events, and of host work by the host's clock. Everything between two events
// is queued while the device is still busy with a delay, so that the host's speed is not in the time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "checker/calibrate_kernels.cuh"
#include "checker/device.h"
#include "checker/gpu_roof.h"
#include "checker/timing.h"

namespace checker {

constexpr int kMinSamples = 20;
constexpr int kMaxSamples = 51;
constexpr int kWarmupSamples = 3;
constexpr double kSecondsEach = 0.25;  // of one measurement, once it has the least number of samples
constexpr double kHurrySeconds = 38;   // from here on no measurement takes more than the least number
constexpr double kLastSeconds = 50;    // none begins after this
constexpr const char* kOutOfTime = "not measured: the time for all of it was up";

class Sampler {
  public:
    Sampler() : started_(steady_nanoseconds()) {}

    cudaStream_t stream() const { return stream_.get(); }
    double elapsed() const { return static_cast<double>(steady_nanoseconds() - started_) * 1e-9; }
    bool out_of_time() const { return elapsed() > kLastSeconds; }

    // Device time of one run of `body`.
    double once(const std::function<void()>& body) const {
        begin_.record(stream());
        body();
        end_.record(stream());
        end_.wait();
        return end_.seconds_since(begin_);
    }

    // Samples of `body`, which queues `calls` calls; `prepare` runs before each and is not timed.
    Result on_device(const std::function<void()>& prepare, const std::function<void()>& body, int calls) {
        return sample(calls, [&]() -> std::optional<double> {
            prepare();
            delay_kernel<<<1, 1, 0, stream()>>>(delay_nanoseconds_);
            check(cudaGetLastError());
            begin_.record(stream());
            body();
            end_.record(stream());
            const bool late = begin_.reached();  // the device came to `begin` before all was queued
            end_.wait();
            if (late && delay_nanoseconds_ < kLongestDelay) {
                delay_nanoseconds_ *= 2;
                return std::nullopt;
            }
            return end_.seconds_since(begin_);
        });
    }

    // Samples of `body`, which does `calls` calls and returns when they are done, by the host's clock.
    Result on_host(const std::function<void()>& body, int calls) {
        check(cudaStreamSynchronize(stream()));
        return sample(calls, [&]() -> std::optional<double> {
            const std::int64_t begin = steady_nanoseconds();
            body();
            return static_cast<double>(steady_nanoseconds() - begin) * 1e-9;
        });
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
    static constexpr std::uint64_t kLongestDelay = 20'000'000;

    // `take` returns the seconds of one sample, or nothing where it was spoilt.
    Result sample(int calls, const std::function<std::optional<double>()>& take) {
        if (out_of_time()) {
            return not_measured(kOutOfTime);
        }
        const double begin = elapsed();
        std::vector<double> samples;
        int warmups = 0;
        for (int tries = 0; tries < 4 * kMaxSamples; tries++) {
            const std::optional<double> seconds = take();
            if (!seconds || !(*seconds > 0)) {  // a clock that stood still or went back is no sample
                continue;
            }
            if (warmups < kWarmupSamples) {
                warmups++;
                continue;
            }
            samples.push_back(*seconds / calls);
            const int most = elapsed() > kHurrySeconds ? kMinSamples : kMaxSamples;
            const int taken = static_cast<int>(samples.size());
            if (taken >= most || (taken >= kMinSamples && elapsed() - begin > kSecondsEach)) {
                break;
            }
        }
        if (samples.size() < kMinSamples) {
            return not_measured("not measured: too few samples had a time that could be right");
        }
        Result result;
        result.seconds = summarise(samples);
        result.calls_per_sample = calls;
        return result;
    }

    Stream stream_;
    Event begin_, end_;
    std::uint64_t delay_nanoseconds_ = 50'000;  // doubled until the host queues a sample within it
    std::int64_t started_;
};

}  // namespace checker
