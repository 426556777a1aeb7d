// SPDX-License-Identifier: MIT
#include "checker/worker/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "checker/base/text.h"

namespace checker {
namespace {

struct FreeAligned {
    void operator()(std::byte* p) const { std::free(p); }
};

// aligned_alloc, which promises more than there is: who then touches it is killed.
std::byte* allocate_what_is_there(std::size_t alignment, std::size_t bytes) {
    const std::optional<std::size_t> available = available_bytes();
    void* const memory = bytes <= available.value_or(bytes) ? std::aligned_alloc(alignment, bytes) : nullptr;
    if (memory == nullptr) {
        throw OutOfMemory(fmt::format("it wants {} more of memory{}", gib(bytes),
                                      available ? fmt::format(", of which {} is free", gib(*available)) : ""));
    }
    return static_cast<std::byte*>(memory);
}

// SOL_CLOCK=processor leaves out what other programs take, as a record made on a busy machine does.
Clock chosen_clock() {
    const char* name = std::getenv("SOL_CLOCK");
    return name != nullptr && std::string_view(name) == "processor" ? processor_nanoseconds : steady_nanoseconds;
}

class HostBench final : public Bench {
  public:
    // Poisoned, so that every page exists before the clock starts; from a page's start, so that all candidates' buffers
    // lie alike in the caches' sets.
    std::byte* allocate(std::size_t bytes) override {
        constexpr std::size_t kAlignment = 4096;
        const std::size_t rounded = std::max((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
        memory_.emplace_back(allocate_what_is_there(kAlignment, rounded));
        fill_with_poison({memory_.back().get(), rounded}, Element::byte, Schedule::end_aligned);
        return memory_.back().get();
    }

    void fill(std::byte* to, std::size_t bytes, const std::function<void(std::span<std::byte>)>& draw) override {
        draw({to, bytes});
    }

    void copy_content(std::byte* to, const std::byte* from, std::size_t bytes) override {
        std::memcpy(to, from, bytes);
    }
    void fetch(std::span<std::byte> to, const std::byte* from) override { std::memcpy(to.data(), from, to.size()); }

    Stopwatch& stopwatch() override { return stopwatch_; }
    TimingOptions options(double seconds, int samples) const override {
        return {.max_seconds = seconds, .fewest_samples = samples};
    }
    Candidate copy(std::size_t bytes, std::size_t /*times*/) override { return copy_candidate(bytes); }
    Candidate read(std::size_t bytes, std::size_t /*times*/) override { return read_candidate(bytes); }
    FmaCandidate arithmetic() override { return fma_candidate(); }

  private:
    HostStopwatch stopwatch_{chosen_clock()};
    std::vector<std::unique_ptr<std::byte, FreeAligned>> memory_;
};

}  // namespace

std::byte* Bench::allocate_copy(const std::byte* of, std::size_t bytes) {
    std::byte* const memory = allocate(bytes);
    copy_content(memory, of, bytes);
    return memory;
}

std::size_t calls_for_a_coarse_clock(double seconds, std::size_t bytes, std::size_t room) {
    constexpr double kLongEnough = 64e-6;
    constexpr std::size_t kMost = 32;  // where the clock says nothing of one
    const std::size_t wanted =
        seconds > 0 ? static_cast<std::size_t>(std::ceil(std::min(kLongEnough / seconds, double{kMost}))) : kMost;
    return std::max<std::size_t>(1, std::min(wanted, room / std::max<std::size_t>(bytes, 1)));
}

TimingOptions device_options(double seconds, int samples) {
    constexpr double kGoal = 0.01, kMostSeconds = 1.5;
    constexpr int kFewest = 6;          // have an interval
    constexpr int kEqualByChance = 20;  // fewer may be equal by chance where the clock moves in steps
    const int fewest = std::max(kFewest, samples);
    return {.warmup_rounds = 3,
            .enough_samples = std::max(kEqualByChance, samples),
            .max_rounds = 100'000,
            .max_seconds = seconds > 0 ? kMostSeconds : 0,
            .fewest_samples = fewest,
            .last_seconds = 2 * kMostSeconds,
            .interval_goal = kGoal * kFewest / fewest,
            .min_sample_seconds = 0};
}

void Bench::poison(std::byte* to, std::size_t bytes, Element element, Schedule schedule) {
    constexpr std::size_t kPiece = std::size_t{16} << 20;
    for (std::size_t at = 0; at < bytes; at += kPiece) {
        fill(to + at, std::min(kPiece, bytes - at),
             [&](std::span<std::byte> piece) { fill_with_poison(piece, element, schedule); });
    }
}

std::unique_ptr<Bench> host_bench() {
    return std::make_unique<HostBench>();
}

}  // namespace checker
