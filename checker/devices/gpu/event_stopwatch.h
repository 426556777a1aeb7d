// SPDX-License-Identifier: MIT
//
// CUDA events as the stopwatch of timing.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "checker/clock/timing.h"
#include "checker/device.h"
#include "checker/devices/gpu/gpu_launch.h"

namespace checker {

// Device time by a pair of CUDA events on one stream. What is timed is queued behind a delay, which is doubled until the
// host queues all of it in that time; a sample that the device began before all was queued is no reading.
class EventStopwatch final : public Stopwatch {
  public:
    // `longest_delay` in nanoseconds: a sample that is not queued within that is taken as it is.
    explicit EventStopwatch(cudaStream_t stream, std::uint64_t longest_delay = 20'000'000)
        : stream_(stream), longest_delay_(longest_delay) {}

    std::optional<double> seconds_of(const std::function<void()>& work) override {
        launch_delay(delay_nanoseconds_, stream_);
        begin_.record(stream_);
        work();
        end_.record(stream_);
        const bool late = begin_.reached();
        end_.wait();
        if (late && delay_nanoseconds_ < longest_delay_) {
            delay_nanoseconds_ *= 2;
            return std::nullopt;
        }
        late_ += late ? 1 : 0;
        const double seconds = end_.seconds_since(begin_);
        return seconds > 0 ? std::optional(seconds) : std::nullopt;
    }
    double now() const override { return static_cast<double>(steady_nanoseconds()) * 1e-9; }

    // Samples that were taken as they are.
    int late() const { return late_; }

    // Device time of one run of `body` with nothing queued before it: launching is in it.
    double once(const std::function<void()>& body) const {
        begin_.record(stream_);
        body();
        end_.record(stream_);
        end_.wait();
        return end_.seconds_since(begin_);
    }

  private:
    cudaStream_t stream_;
    std::uint64_t longest_delay_;
    Event begin_, end_;
    std::uint64_t delay_nanoseconds_ = 50'000;
    int late_ = 0;
};

}  // namespace checker
