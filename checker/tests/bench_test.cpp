// SPDX-License-Identifier: MIT
#include "checker/worker/bench.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <set>

#include "checker/tests/fakes/fake.h"
#include "checker/worker/call_buffers.h"
#include "checker/worker/time_op.h"
#include "lessons/gpt2/context.h"

using namespace checker;

TEST(HostBench, SaysThatThereIsNoRoomForMoreThanTheMachineHas) {
    const std::unique_ptr<Bench> bench = host_bench();
    for (const int exponent : {44, 60}) {  // what a system that promises too much would promise; what none does
        try {
            bench->allocate(std::size_t{1} << exponent);
            FAIL() << "2^" << exponent << " bytes were given";
        } catch (const OutOfMemory& error) {
            EXPECT_NE(std::string(error.what()).find("GiB more of memory"), std::string::npos) << error.what();
        }
    }
}

TEST(HostBench, GivesPoisonedMemoryFromAPagesStart) {
    const std::unique_ptr<Bench> bench = host_bench();
    const std::byte* memory = bench->allocate(100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 4096, 0U);
    EXPECT_EQ(memory[0], static_cast<std::byte>(poison(Schedule::end_aligned, Element::byte)));
}

// What lies elsewhere has another place in the caches, for as long as the process lives.
TEST(TimeOp, LetsAllImplementationsWorkInTheSameMemory) {
    constexpr int N = 64, C = 16;
    std::set<const void*> out, scratch, workspace;
    std::set<const Context*> contexts;
    const Timed timed{.shape = "N=64 C=16",
                      .call = {.where = "",
                               .inputs = {normal("inp", "N C", {N, C})},
                               .outputs = {output("out", "N C", {N, C})},
                               .scratch = {{"scratch", [](const Library&) { return kFakeScratchBytes; }}},
                               .run = [&](const Library& library, const Buffers& at) {
                                   library.find<twice>()(at.f32("out"), at.f32("inp"), at.scratch("scratch"), N, C, C);
                                   Context& context = at.kept<Context>();
                                   contexts.insert(&context);
                                   workspace.insert(context.workspace(1000));
                                   out.insert(at.f32("out"));
                                   scratch.insert(at.scratch("scratch"));
                               }}};
    MemoryFile memory;
    memory.grow(file_bytes(slots_of(timed_specs(timed, 0), Schedule::start_aligned)));
    ASSERT_EQ(dup2(memory.fd(), kWorkerMemory), kWorkerMemory);
    const Library right("build/tests/fakes/right.so");
    const std::unique_ptr<Bench> bench = host_bench();
    const Reply reply =
        time_op(timed, right, right, {},
                {.kind = RequestKind::time, .baselines = bit(Baseline::solution), .seconds = 0.01}, *bench);
    close(kWorkerMemory);
    EXPECT_EQ(reply.answer, Answer::done);
    EXPECT_EQ(contexts.size(), 2u);  // two implementations ran, and what they keep is their own
    EXPECT_EQ(out.size(), 1u);
    EXPECT_EQ(scratch.size(), 1u);
    EXPECT_EQ(workspace.size(), 1u);
}

namespace {

// A device whose clock moves on once in 1.024 us, as that of CUDA's events does on some cards. A call takes what `seconds`
// says of its implementation, or half of that where its output is in the cache.
class CoarseBench final : public Bench {
  public:
    std::size_t room = std::size_t{1} << 30;
    double now_ns = 0;
    std::set<const void*> in_cache;
    int warm_calls = 0, cold_calls = 0;  // within samples

    std::byte* allocate(std::size_t bytes) override {
        return memory_.emplace_back(std::make_unique<std::byte[]>(bytes)).get();
    }
    void fill(std::byte* to, std::size_t bytes, const std::function<void(std::span<std::byte>)>& draw) override {
        draw({to, bytes});
    }
    void copy_content(std::byte* to, const std::byte* from, std::size_t bytes) override {
        std::copy_n(from, bytes, to);
    }
    void fetch(std::span<std::byte> to, const std::byte* from) override { std::copy_n(from, to.size(), to.begin()); }
    Stopwatch& stopwatch() override { return stopwatch_; }
    TimingOptions options(double seconds, int samples) const override { return device_options(seconds, samples); }
    Candidate copy(std::size_t /*bytes*/, std::size_t /*times*/) override { return {}; }
    Candidate read(std::size_t /*bytes*/, std::size_t /*times*/) override { return {}; }
    FmaCandidate arithmetic() override { return {}; }
    std::size_t calls_in_a_sample(double seconds, std::size_t bytes) const override {
        return calls_for_a_coarse_clock(seconds, bytes, room);
    }
    std::function<void()> cold() override {
        return [this] { in_cache.clear(); };
    }

    void call(const void* out, double ns) {
        const bool warm = !in_cache.insert(out).second;
        (warm ? warm_calls : cold_calls) += timed_ ? 1 : 0;
        std::uniform_real_distribution<double> noise(0.97, 1.03);
        now_ns += noise(random_) * (warm ? ns / 2 : ns);
    }

  private:
    struct Coarse final : Stopwatch {
        explicit Coarse(CoarseBench& bench) : bench_(bench) {}
        double now() const override { return bench_.now_ns * 1e-9; }
        std::optional<double> seconds_of(const std::function<void()>& work) override {
            bench_.now_ns += std::uniform_real_distribution<double>(2'000, 9'000)(bench_.random_);
            const double begin = std::floor(bench_.now_ns / kStep);
            bench_.timed_ = true;
            work();
            bench_.timed_ = false;
            const double steps = std::floor(bench_.now_ns / kStep) - begin;
            return steps > 0 ? std::optional(steps * kStep * 1e-9) : std::nullopt;
        }
        static constexpr double kStep = 1024;
        CoarseBench& bench_;
    };
    bool timed_ = false;
    std::mt19937 random_{1};
    Coarse stopwatch_{*this};
    std::deque<std::unique_ptr<std::byte[]>> memory_;
};

// The verdict on an implementation that takes `times` as long as the solution, whose call takes so many nanoseconds.
SpeedVerdict verdict_by_a_coarse_clock(CoarseBench& bench, double ns, double times) {
    constexpr int N = 64, C = 16;
    const Library right("build/tests/fakes/right.so"), other("build/tests/fakes/right.so");
    const Timed timed{.shape = "N=64 C=16",
                      .call = {.where = "",
                               .inputs = {normal("inp", "N C", {N, C})},
                               .outputs = {output("out", "N C", {N, C})},
                               .run = [&](const Library& library, const Buffers& at) {
                                   bench.call(at.f32("out"), &library == &right ? ns : times * ns);
                               }}};
    MemoryFile memory;
    memory.grow(file_bytes(slots_of(timed_specs(timed, 0), Schedule::start_aligned)));
    EXPECT_EQ(dup2(memory.fd(), kWorkerMemory), kWorkerMemory);
    const Reply reply = time_op(timed, other, right, {},
                                {.kind = RequestKind::time, .baselines = bit(Baseline::solution), .seconds = 1}, bench);
    close(kWorkerMemory);
    if (bench.room > 0) {
        EXPECT_NEAR(reply.subject.median, times * ns * 1e-9, 0.1 * times * ns * 1e-9) << "seconds of one call";
    }
    return speed_of(inverse(reply.ratio[static_cast<std::size_t>(Baseline::solution)]), {0.77, 0.85, 0.92});
}

struct Short {
    double ns, times;
    SpeedVerdict right;  // shares of the solution's speed: 1, 0.91, 0.83 and 0.67
};
std::vector<Short> short_kernels() {
    std::vector<Short> all;
    for (const double ns : {1'700.0, 2'600.0, 3'700.0, 5'100.0, 12'000.0, 19'000.0}) {
        all.push_back({ns, 1.0, {Speed::fast, Medal::gold}});
        all.push_back({ns, 1.1, {Speed::fast, Medal::silver}});
        all.push_back({ns, 1.2, {Speed::fast, Medal::bronze}});
        all.push_back({ns, 1.5, {Speed::slow, Medal::none}});
    }
    return all;
}

TEST(TimeOp, GivesEachShortKernelItsMedalThoughTheClockMovesOnOnceAMicrosecond) {
    for (const Short& kernel : short_kernels()) {
        CoarseBench bench;
        const SpeedVerdict verdict = verdict_by_a_coarse_clock(bench, kernel.ns, kernel.times);
        EXPECT_EQ(verdict.speed, kernel.right.speed) << kernel.ns << " " << kernel.times;
        EXPECT_EQ(verdict.medal, kernel.right.medal) << kernel.ns << " " << kernel.times;
        EXPECT_EQ(bench.warm_calls, 0) << "each call of a sample has operands that no cache holds";
    }
}

TEST(TimeOp, ByOneCallASampleThatClockGivesMedalsByChance) {
    int wrong = 0;
    for (const Short& kernel : short_kernels()) {
        CoarseBench bench;
        bench.room = 0;
        const SpeedVerdict verdict = verdict_by_a_coarse_clock(bench, kernel.ns, kernel.times);
        wrong += verdict.speed != kernel.right.speed || verdict.medal != kernel.right.medal ? 1 : 0;
    }
    EXPECT_GE(wrong, 6);
}

struct Environment {
    Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Environment() { unsetenv(name_); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    const char* name_;
};

TEST(TimeOp, FindsTheCachesWarmWhereTheyAreToBeHot) {
    const Environment hot("SOL_CACHE", "hot");
    CoarseBench bench;
    constexpr double kNs = 12'000, kWarmNs = kNs / 2;
    constexpr int N = 64, C = 16;
    const Library right("build/tests/fakes/right.so");
    const Timed timed{.shape = "N=64 C=16",
                      .call = {.where = "",
                               .inputs = {normal("inp", "N C", {N, C})},
                               .outputs = {output("out", "N C", {N, C})},
                               .run = [&](const Library&, const Buffers& at) { bench.call(at.f32("out"), kNs); }}};
    MemoryFile memory;
    memory.grow(file_bytes(slots_of(timed_specs(timed, 0), Schedule::start_aligned)));
    ASSERT_EQ(dup2(memory.fd(), kWorkerMemory), kWorkerMemory);
    const Reply reply = time_op(timed, right, right, {},
                                {.kind = RequestKind::time, .baselines = bit(Baseline::solution), .seconds = 1}, bench);
    close(kWorkerMemory);
    EXPECT_NEAR(reply.subject.median, kWarmNs * 1e-9, 0.05 * kWarmNs * 1e-9);
    EXPECT_GT(bench.warm_calls, 0);
    EXPECT_EQ(bench.cold_calls, 0);
}

TEST(TimeOp, RefusesCachesThatAreNeitherHotNorCold) {
    const Environment warm("SOL_CACHE", "warm");
    EXPECT_THROW(wants_warm_caches(), std::invalid_argument);
}

// A device's clock that candidates turn: each sample takes `seconds` of itself, and all candidates' samples are of `spent`.
struct DeviceRun {
    std::vector<Samples> samples;
    double spent = 0;
};
DeviceRun run_on_device(std::size_t candidates, const std::function<double()>& seconds, double asked = 0.25,
                        int samples = 6) {
    std::int64_t now = 0;
    HostStopwatch stopwatch([&now] { return now; });
    const std::vector<Candidate> all(
        candidates, {.name = "one", .run = [&] { now += static_cast<std::int64_t>(seconds() * 1e9); }});
    DeviceRun run{.samples = time_interleaved(all, device_options(asked, samples), stopwatch)};
    run.spent = static_cast<double>(now) * 1e-9;
    return run;
}

// A call of 100 us whose samples differ by up to `noise`.
std::function<double()> noisy(double noise) {
    return [random = std::mt19937(1), around = std::uniform_real_distribution<double>(1 - noise, 1 + noise)]() mutable {
        return 100e-6 * around(random);
    };
}

TEST(DeviceOptions, StopWhenIntervalIsWithinOnePercent) {
    const DeviceRun run = run_on_device(3, noisy(0.2));
    EXPECT_LT(run.spent, 1.0);
    EXPECT_GT(run.samples[0].seconds.size(), 100U) << "of samples so different it takes many";
    for (const Samples& samples : run.samples) {
        const Summary summary = summarise(samples.seconds);
        EXPECT_LE(summary.interval.high, 1.01 * summary.median);
        EXPECT_GE(summary.interval.low, 0.99 * summary.median);
    }
    const DeviceRun steady = run_on_device(3, noisy(0.001));
    EXPECT_EQ(steady.samples[0].seconds.size(), 20U);
}

TEST(DeviceOptions, StopAtOneAndAHalfSecondsWhereItStaysWide) {
    int call = 0;
    const DeviceRun run = run_on_device(3, [&] { return ++call / 3 % 2 == 0 ? 100e-6 : 200e-6; });
    EXPECT_GE(run.spent, 1.5);
    EXPECT_LT(run.spent, 1.51);
}

TEST(DeviceOptions, EndALongCallAfterThreeSeconds) {
    const DeviceRun run = run_on_device(3, [] { return 0.3; });
    EXPECT_GE(run.samples[0].seconds.size(), 2U);
    EXPECT_LT(run.spent, 3 + 3 * 0.3);
    const DeviceRun shorter = run_on_device(2, [] { return 0.1; });
    EXPECT_EQ(shorter.samples[0].seconds.size(), 6U) << "the fewest that have an interval";
    EXPECT_LT(shorter.spent, 2.1);
}

TEST(DeviceOptions, NarrowTheGoalWithTheSamplesThatAreAskedFor) {
    EXPECT_DOUBLE_EQ(device_options(0.25, 6).interval_goal, 0.01);
    EXPECT_DOUBLE_EQ(device_options(0.5, 12).interval_goal, 0.005);
    const std::size_t once = run_on_device(1, noisy(0.2)).samples[0].seconds.size();
    EXPECT_GT(run_on_device(1, noisy(0.2), 0.5, 12).samples[0].seconds.size(), 2 * once);
}

TEST(DeviceOptions, TakeOnlyTheSamplesAskedForWithoutSeconds) {
    EXPECT_EQ(run_on_device(2, noisy(0.2), 0, 12).samples[0].seconds.size(), 12U);
}

TEST(CallsForACoarseClock, LastLongEnoughTogetherAndHaveRoom) {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    EXPECT_EQ(calls_for_a_coarse_clock(100e-6, kMiB, 1000 * kMiB), 1U);
    EXPECT_EQ(calls_for_a_coarse_clock(4e-6, kMiB, 1000 * kMiB), 16U);
    EXPECT_EQ(calls_for_a_coarse_clock(4e-6, 200 * kMiB, 1000 * kMiB), 5U);
    EXPECT_EQ(calls_for_a_coarse_clock(4e-6, 2000 * kMiB, 1000 * kMiB), 1U);
    EXPECT_EQ(calls_for_a_coarse_clock(0, kMiB, 1000 * kMiB), 32U) << "shorter than a step";
}

}  // namespace
