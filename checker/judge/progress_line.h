// SPDX-License-Identifier: MIT
//
// The line that says what a check is doing while nothing else is printed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "checker/clock/timing.h"

namespace checker {

// One at a time: what begins after what began before has ended. The first two seconds show nothing.
class ProgressLine {
  public:
    explicit ProgressLine(std::FILE* to, Clock clock = steady_nanoseconds)
        : to_(to), clock_(std::move(clock)), first_(clock_()) {}

    void show(bool on) { on_ = on; }
    bool shows() const { return on_; }

    void start(std::string what);
    void update(std::string_view state);  // "running for 3 s": said behind what it is, about once a second
    void finish();

  private:
    double seconds() const { return static_cast<double>(clock_() - first_) * 1e-9; }
    void put(const std::string& text);

    std::FILE* to_;
    Clock clock_;
    std::int64_t first_;
    bool on_ = false;
    bool shown_ = false;
    std::string what_;
};

}  // namespace checker
