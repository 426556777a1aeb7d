// SPDX-License-Identifier: MIT
//
// How fast the CPU device is: GPT-2's kernels, checked and unchecked, compared with the same loops in plain C++ (-O2);
// the fiber switches of barriers; a launch; and what the search for races and the counting of traffic cost. Times are
// the thread's processor time, which other programs' work changes less than the clock's. The plain loops and all kinds
// of kernels take turns.
#include <dlfcn.h>
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/simt/bench/ops.h"
#include "checker/simt/include/simt/api.h"
#include "checker/simt/runtime/counting/traffic.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace {

constexpr int kRounds = 7;
constexpr int kB = 4, kT = 64, kC = 128, kOC = 512, kNH = 4;

double seconds_now() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void throw_unless_ok(cudaError_t error) {
    if (error != cudaSuccess) {
        throw std::runtime_error(cudaGetErrorString(error));
    }
}

// The work and what it issued.
double seconds_of(const std::function<void()>& work) {
    const double begin = seconds_now();
    work();
    throw_unless_ok(cudaDeviceSynchronize());
    return seconds_now() - begin;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

const Ops& ops_of(const std::string& object) {
    void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    const void* symbol = handle == nullptr ? nullptr : dlsym(handle, "ops");
    if (symbol == nullptr) {
        throw std::runtime_error(dlerror());
    }
    return *static_cast<const Ops*>(symbol);
}

std::vector<float> numbers(std::size_t count) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
    return values;
}

// The same array on both sides.
class Array {
  public:
    explicit Array(std::size_t elements) : host_(numbers(elements)), bytes_(elements * sizeof(float)) {
        throw_unless_ok(cudaMalloc(&device_, bytes_));
        throw_unless_ok(cudaMemcpy(device_, host_.data(), bytes_, cudaMemcpyHostToDevice));
    }
    ~Array() { static_cast<void>(cudaFree(device_)); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    float* on(bool device) { return device ? device_ : host_.data(); }

    // Whether both sides hold the same numbers, up to what sums in another order may differ by.
    bool agrees() const {
        std::vector<float> copy(host_.size());
        throw_unless_ok(cudaMemcpy(copy.data(), device_, bytes_, cudaMemcpyDeviceToHost));
        return std::equal(copy.begin(), copy.end(), host_.begin(),
                          [](float a, float b) { return std::fabs(a - b) <= 1e-4F * (1 + std::fabs(b)); });
    }

  private:
    std::vector<float> host_;
    std::size_t bytes_;
    float* device_ = nullptr;
};

using Work = std::function<void(const Ops&, bool device)>;

void row(const std::string& name, const Ops& checked, const Ops& unchecked, const Array& out, const Work& work) {
    const auto without_races = [&] {
        simt::Races::instance().want(false);
        work(checked, true);
        throw_unless_ok(cudaDeviceSynchronize());
        simt::Races::instance().want(true);
    };
    const auto counted = [&] {
        const simt::CountingTraffic counting;
        work(checked, true);
    };
    std::vector<double> plain_s, unchecked_s, raceless_s, checked_s, counted_s;
    for (int round = -1; round < kRounds; round++) {  // the first warms up
        const double times[] = {seconds_of([&] { work(plain_ops, false); }), seconds_of([&] { work(unchecked, true); }),
                                seconds_of(without_races), seconds_of([&] { work(checked, true); }),
                                seconds_of(counted)};
        throw_unless_ok(cudaGetLastError());
        if (round >= 0) {
            plain_s.push_back(times[0]);
            unchecked_s.push_back(times[1]);
            raceless_s.push_back(times[2]);
            checked_s.push_back(times[3]);
            counted_s.push_back(times[4]);
        }
    }
    if (!out.agrees()) {
        throw std::runtime_error(name + ": the kernel and the loops give different numbers");
    }
    const double plain = median(plain_s);
    const double raceless = median(raceless_s);
    fmt::print("{:<34}{:>10.2f}{:>13.2f}{:>11.2f}{:>18.1f}{:>16.1f}{:>14.1f}{:>18.1f}\n", name, 1e3 * plain,
               1e3 * median(unchecked_s), 1e3 * median(checked_s), median(unchecked_s) / plain,
               median(checked_s) / plain, median(checked_s) / raceless, median(counted_s) / median(checked_s));
}

void kernels(const Ops& checked, const Ops& unchecked) {
    fmt::print("{:<34}{:>10}{:>13}{:>11}{:>18}{:>16}{:>14}{:>18}\n", "ms, and times plain C++ -O2", "plain",
               "unchecked", "checked", "unchecked/plain", "checked/plain", "races on/off", "counting/checked");
    {
        Array out(std::size_t{kB} * kT * kOC), inp(std::size_t{kB} * kT * kC), weight(std::size_t{kOC} * kC), bias(kOC);
        row("matmul B=4 T=64 C=128 OC=512", checked, unchecked, out, [&](const Ops& ops, bool device) {
            ops.matmul(out.on(device), inp.on(device), weight.on(device), bias.on(device), kB * kT, kC, kOC);
        });
    }
    {
        constexpr int kN = 64, kColumns = 64;
        Array out(std::size_t{kN} * kColumns), inp(std::size_t{kN} * kC), weight(std::size_t{kColumns} * kC),
            bias(kColumns);
        row("tiled matmul N=64 C=128 OC=64", checked, unchecked, out, [&](const Ops& ops, bool device) {
            ops.tiled_matmul(out.on(device), inp.on(device), weight.on(device), bias.on(device), kN, kC, kColumns);
        });
    }
    {
        Array out(std::size_t{kB} * kT * kC), inp(std::size_t{kB} * kT * kC), weight(kC), bias(kC);
        row("layernorm B=4 T=64 C=128", checked, unchecked, out, [&](const Ops& ops, bool device) {
            ops.layernorm(out.on(device), inp.on(device), weight.on(device), bias.on(device), kB * kT, kC);
        });
    }
    {
        Array out(std::size_t{kT} * kC), scores(std::size_t{kNH} * kT * kT), att(std::size_t{kNH} * kT * kT),
            qkv(std::size_t{kT} * 3 * kC);
        row("attention B=1 T=64 C=128 NH=4", checked, unchecked, out, [&](const Ops& ops, bool device) {
            ops.attention(out.on(device), scores.on(device), att.on(device), qkv.on(device), 1, kT, kC, kNH);
        });
    }
}

void switches(const Ops& ops) {
    constexpr int kThreads = 256, kTimes = 1000;
    std::vector<double> per_second;
    for (int round = 0; round < kRounds; round++) {
        const std::uint64_t before = simt::Scheduler::instance().slices();
        const double seconds = seconds_of([&] { ops.barriers(1, kThreads, kTimes); });
        per_second.push_back(static_cast<double>(simt::Scheduler::instance().slices() - before) / seconds);
    }
    fmt::print("{:<34}{:>10.1f} million a second ({:.0f} ns each)\n", "fiber switches, 256 at a barrier",
               1e-6 * median(per_second), 1e9 / median(per_second));
}

void launches(const Ops& ops) {
    constexpr int kLaunches = 1000;
    for (const int threads : {1, 256}) {
        std::vector<double> each;
        for (int round = 0; round < kRounds; round++) {
            each.push_back(seconds_of([&] {
                               for (int i = 0; i < kLaunches; i++) { ops.nothing(threads); }
                           }) /
                           kLaunches);
        }
        fmt::print("{:<34}{:>10.1f} us\n", fmt::format("launch of {} thread{}", threads, threads == 1 ? "" : "s"),
                   1e6 * median(each));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        fmt::print(stderr, "usage: bench CHECKED.so UNCHECKED.so\n");
        return 2;
    }
    try {
        const Ops& checked = ops_of(argv[1]);
        const Ops& unchecked = ops_of(argv[2]);
        kernels(checked, unchecked);
        switches(checked);
        launches(checked);
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench: {}\n", error.what());
        return 1;
    }
    return simt::findings().empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
