// SPDX-License-Identifier: MIT
#include "checker/judge/progress_line.h"

#include <fmt/format.h>

namespace checker {

constexpr double kPatience = 2;

void ProgressLine::start(std::string what) {
    what_ = std::move(what);
    put(what_);
}

void ProgressLine::update(std::string_view state) {
    put(fmt::format("{}: {}", what_, state));
}

void ProgressLine::finish() {
    if (shown_) {
        fmt::print(to_, "\r{:79}\r", "");
        std::fflush(to_);
    }
    shown_ = false;
}

void ProgressLine::put(const std::string& text) {
    if (!on_ || seconds() < kPatience) {
        return;
    }
    constexpr std::size_t kWidth = 77;
    fmt::print(to_, "\r  {:{}}", text.substr(0, kWidth), kWidth);
    std::fflush(to_);
    shown_ = true;
}

}  // namespace checker
