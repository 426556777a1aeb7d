// SPDX-License-Identifier: MIT
#include "checker/worker/bench.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace checker {
namespace {

struct FreeAligned {
    void operator()(std::byte* p) const { std::free(p); }
};

class HostBench final : public Bench {
  public:
    // Poisoned, so that every page exists before the clock starts; from a page's start, so that all candidates' buffers
    // lie alike in the caches' sets.
    std::byte* allocate(std::size_t bytes) override {
        constexpr std::size_t kAlignment = 4096;
        const std::size_t rounded = std::max((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment);
        memory_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
        if (!memory_.back()) {
            throw std::bad_alloc();
        }
        fill_with_poison({memory_.back().get(), rounded}, Schedule::end_aligned);
        return memory_.back().get();
    }

    void fill(std::byte* to, std::size_t bytes, const std::function<void(std::span<std::byte>)>& draw) override {
        draw({to, bytes});
    }

    void fetch(std::span<std::byte> to, const std::byte* from) override { std::memcpy(to.data(), from, to.size()); }

    Stopwatch& stopwatch() override { return stopwatch_; }
    TimingOptions options(double seconds, int rounds) const override {
        return {.max_seconds = seconds, .fewest_rounds = rounds};
    }
    Candidate copy(std::size_t bytes) override { return copy_candidate(bytes); }
    FmaCandidate arithmetic() override { return fma_candidate(); }

  private:
    HostStopwatch stopwatch_;
    std::vector<std::unique_ptr<std::byte, FreeAligned>> memory_;
};

}  // namespace

std::unique_ptr<Bench> host_bench() {
    return std::make_unique<HostBench>();
}

}  // namespace checker
