// SPDX-License-Identifier: MIT
#include "checker/clock/roof.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "checker/clock/roof_kernels.h"
#include "checker/clock/timing.h"

namespace checker {
namespace {

// Read plus written by one copy of the bandwidth measurement: far more than a core's share of the caches.
constexpr std::size_t kCopyBytes = std::size_t{256} << 20;
constexpr double kFmaSeconds = 0.5;
constexpr int kScalingRounds = 5;
constexpr double kScalingSeconds = 0.2;

double now() {
    return static_cast<double>(steady_nanoseconds()) * 1e-9;
}

// Rounds of run_fma that take a few milliseconds, so that a look at the clock costs nothing beside them.
long fma_rounds() {
    float sink = 0;
    long rounds = 1000;
    for (;;) {
        const double begin = now();
        run_fma(rounds, sink);
        if (now() - begin > 2e-3) {
            return rounds;
        }
        rounds *= 2;
    }
}

// Runs work(thread) on `threads` threads for about `seconds`, all started together. The sum of what the calls return,
// a second of wall time.
template <class Work>
double rate_together(int threads, double seconds, Work&& work) {
    std::barrier start(threads);
    std::vector<double> rates(static_cast<std::size_t>(threads));
    {
        std::vector<std::jthread> pool;
        for (int t = 0; t < threads; t++) {
            pool.emplace_back([&, t] {
                auto step = work(t);
                step();  // warm-up
                start.arrive_and_wait();
                const double begin = now();
                double done = 0;
                double elapsed = 0;
                do {
                    done += step();
                    elapsed = now() - begin;
                } while (elapsed < seconds);
                rates[static_cast<std::size_t>(t)] = done / elapsed;
            });
        }
    }
    double sum = 0;
    for (const double rate : rates) { sum += rate; }
    return sum;
}

double copy_rate(int threads, double seconds) {
    const std::size_t bytes = kCopyBytes / static_cast<std::size_t>(threads);
    return rate_together(threads, seconds, [bytes](int) {
        return [copy = copy_candidate(bytes), bytes] {
            copy.run();
            return static_cast<double>(bytes);
        };
    });
}

double fma_rate(int threads, double seconds) {
    const long rounds = fma_rounds();
    return rate_together(threads, seconds, [rounds](int) {
        return [rounds] {
            float sink = 0;
            return run_fma(rounds, sink);
        };
    });
}

// What `processes` processes get done in the same `seconds`, in calls of run_fma.
double spin(int processes, double seconds, long rounds) {
    struct Shared {
        std::atomic<int> ready;
        std::atomic<bool> go;
        std::atomic<bool> stop;
        std::atomic<long> calls;
    };
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::runtime_error("calibrate: no memory for a page that two processes share");
    }
    auto* shared = new (memory) Shared{};
    std::vector<pid_t> children;
    for (int i = 0; i < processes; i++) {
        const pid_t child = fork();
        if (child == 0) {
            shared->ready++;
            while (!shared->go) { sched_yield(); }
            float sink = 0;
            while (!shared->stop) {
                run_fma(rounds, sink);
                shared->calls++;
            }
            _exit(0);
        }
        if (child > 0) {
            children.push_back(child);
        }
    }
    if (static_cast<int>(children.size()) == processes) {
        while (shared->ready < processes) { sched_yield(); }
        shared->go = true;
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    }
    const auto calls = static_cast<double>(shared->calls);
    shared->stop = true;
    shared->go = true;
    for (const pid_t child : children) { waitpid(child, nullptr, 0); }
    munmap(memory, sizeof(Shared));
    if (static_cast<int>(children.size()) < processes) {
        throw std::runtime_error("calibrate: no second process could be started (see `ulimit -u`)");
    }
    return calls;
}

}  // namespace

std::string cpu_name() {
    std::ifstream info("/proc/cpuinfo");
    // x86 names the model; on Arm the implementer and part numbers stand for it.
    std::string implementer, part;
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) {
            continue;
        }
        const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
        if (line.starts_with("model name")) {
            return value;
        }
        if (line.starts_with("CPU implementer")) {
            implementer = value;
        }
        if (line.starts_with("CPU part")) {
            part = value;
        }
    }
    return implementer.empty() ? "unknown CPU" : fmt::format("Arm implementer {} part {}", implementer, part);
}

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    }
    return CPU_COUNT(&set);
}

std::string keep_best(CpuRoof& measured, const CpuRoof& earlier) {
    if (measured.name != earlier.name || measured.cores != earlier.cores || measured.lanes != earlier.lanes) {
        return "";
    }
    constexpr double kMuch = 1.1;
    std::string raised;
    for (const auto& [rate, words] : {std::pair{&CpuRoof::copy_one, "copy on one core"},
                                      {&CpuRoof::copy_all, "copy on all cores"},
                                      {&CpuRoof::fma_one, "multiply-adds on one core"},
                                      {&CpuRoof::fma_all, "multiply-adds on all cores"},
                                      {&CpuRoof::two_processes, "work of two processes"}}) {
        if (earlier.*rate > kMuch * (measured.*rate)) {
            raised += (raised.empty() ? "" : ", ") + std::string(words);
        }
        measured.*rate = std::max(measured.*rate, earlier.*rate);
    }
    return raised;
}

double measure_fma(double seconds) {
    return fma_rate(1, seconds);
}

FmaCandidate fma_candidate() {
    constexpr long kRounds = 20'000;  // of one or two dozen multiply-adds each, of which two start in a cycle
    float sink = 0;
    return {{.name = "multiply-adds",
             .run =
                 [] {
                     float kept = 0;
                     run_fma(kRounds, kept);
                     asm volatile("" : : "r"(&kept) : "memory");
                 }},
            run_fma(1, sink) * kRounds};
}

double measure_two_processes(int rounds, double seconds) {
    const long calls = fma_rounds();
    std::vector<double> ratios;
    for (int i = 0; i < rounds; i++) {
        const double one = spin(1, seconds, calls);
        const double two = spin(2, seconds, calls);
        ratios.push_back(two / std::max(one, 1.0));
    }
    return quantile(ratios, 0.5);
}

CpuRoof measure_cpu_roof(const std::function<void(const std::string&)>& progress) {
    CpuRoof roof;
    roof.name = cpu_name();
    roof.cores = usable_cores();
    roof.lanes = vector_lanes();
    progress("copy bandwidth of one core");
    roof.copy_one = copy_rate(1, 1.0);
    progress("multiply-adds of one core");
    roof.fma_one = fma_rate(1, kFmaSeconds);
    progress(fmt::format("copy bandwidth of {} cores", roof.cores));
    roof.copy_all = copy_rate(roof.cores, 1.0);
    progress(fmt::format("multiply-adds of {} cores", roof.cores));
    roof.fma_all = fma_rate(roof.cores, kFmaSeconds);
    progress("two processes at once");
    roof.two_processes = measure_two_processes(kScalingRounds, kScalingSeconds);
    return roof;
}

}  // namespace checker
