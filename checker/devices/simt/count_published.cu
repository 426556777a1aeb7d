// SPDX-License-Identifier: MIT
//
// What the CPU device counts of the published kernels.
//
//   published --check                        every kernel at small sizes against a plain loop; the wrong ones are named
//   published --list                         families and kernels
//   published --count                        reads lines FAMILY<tab>KERNEL<tab>M<tab>N<tab>K, and prints for each a line of
//                                            JSON: its launches at that size, of each as many blocks as run in seconds
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "checker/cuda_check.h"
#include "checker/estimate/published/kernels.h"
#include "checker/simt/runtime/counting/sampled_traffic.h"
#include "checker/simt/runtime/counting/traffic.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/streams/sampling.h"

namespace {

using checker::check;
using published::Problem;
using published::Published;

struct Buffers {
    long out = 0, a = 0, b = 0;  // floats
};

struct Family {
    const char* name;
    const std::vector<Published>& kernels;
    Buffers (*buffers)(const Problem&);
    // The elements of out that count, from a, b and what out was before.
    std::vector<float> (*expected)(std::string_view kernel, const Problem&, const std::vector<float>& a,
                                   const std::vector<float>& b, const std::vector<float>& out);
    Problem small;
};

bool starts(std::string_view text, std::string_view with) {
    return text.substr(0, with.size()) == with;
}

Buffers buffers_of_sgemm(const Problem& p) {
    return {p.M * p.N, p.M * p.K, p.K * p.N};
}
std::vector<float> sgemm_expected(std::string_view, const Problem& p, const std::vector<float>& a,
                                  const std::vector<float>& b, const std::vector<float>& out) {
    std::vector<float> c(out.size());
    for (long m = 0; m < p.M; m++) {
        for (long n = 0; n < p.N; n++) {
            double sum = 0;
            for (long k = 0; k < p.K; k++) { sum += double{a[m * p.K + k]} * b[k * p.N + n]; }
            c[m * p.N + n] = static_cast<float>(published::kAlpha * sum + published::kBeta * out[m * p.N + n]);
        }
    }
    return c;
}

Buffers buffers_of_copies(const Problem& p) {
    return {p.M * p.N, p.M * p.N, p.M * p.N};
}
std::vector<float> copies_expected(std::string_view kernel, const Problem& p, const std::vector<float>& a,
                                   const std::vector<float>& b, const std::vector<float>& out) {
    std::vector<float> result = out;
    for (long m = 0; m < p.M; m++) {
        for (long n = 0; n < p.N; n++) {
            const float x = a[m * p.N + n];
            (starts(kernel, "transpose") ? result[n * p.M + m] : result[m * p.N + n]) =
                starts(kernel, "add") ? x + b[m * p.N + n] : x;
        }
    }
    return result;
}

Buffers buffers_of_sums(const Problem& p) {
    return {p.N, p.N, p.N};
}
// Whole numbers, whose bits stand in the buffers.
std::vector<float> sums_expected(std::string_view, const Problem&, const std::vector<float>& a,
                                 const std::vector<float>&, const std::vector<float>&) {
    unsigned sum = 0;
    for (const float x : a) { sum += __float_as_uint(x); }
    return {__uint_as_float(sum)};
}

Buffers buffers_of_norms(const Problem& p) {
    return {p.M * p.N + 2 * p.M, p.M * p.N, 2 * p.N};
}
std::vector<float> norms_expected(std::string_view kernel, const Problem& p, const std::vector<float>& a,
                                  const std::vector<float>& b, const std::vector<float>& out) {
    std::vector<float> result = out;
    const bool layernorm = starts(kernel, "layernorm"),
               biased = layernorm || kernel.find("per row, block 32") != kernel.npos;
    for (long m = 0; m < p.M; m++) {
        const float* row = &a[m * p.N];
        double mean = 0, square = 0;
        for (long n = 0; n < p.N; n++) { mean += layernorm ? row[n] / double(p.N) : 0.0; }
        for (long n = 0; n < p.N; n++) { square += (row[n] - mean) * (row[n] - mean) / double(p.N); }
        const double r = 1 / std::sqrt(square + 1e-5);
        for (long n = 0; n < p.N; n++) {
            result[m * p.N + n] = static_cast<float>((row[n] - mean) * r * b[n] + (biased ? b[p.N + n] : 0.0f));
        }
        if (layernorm) {
            result[p.M * p.N + m] = static_cast<float>(mean);
            result[p.M * p.N + p.M + m] = static_cast<float>(r);
        }
    }
    return result;
}

const std::vector<Family>& families() {
    static const std::vector<Family> all = {
        {"sgemm", published::sgemm, buffers_of_sgemm, sgemm_expected, {.M = 128, .N = 256, .K = 64}},
        {"copies", published::copies, buffers_of_copies, copies_expected, {.M = 1, .N = 96 * 64}},
        {"sums", published::sums, buffers_of_sums, sums_expected, {.N = 12 * 512 * 50}},
        {"norms", published::norms, buffers_of_norms, norms_expected, {.M = 10, .N = 4096}},
    };
    return all;
}

// Whether the kernel gives what the plain loop does; says what differs.
bool is_right(const Family& family, const Published& kernel) {
    Problem p = family.small;
    if (starts(kernel.name, "add matrices") || starts(kernel.name, "transpose")) {
        p.M = 96;
        p.N = 64;
    }
    if (starts(kernel.name, "layernorm")) {
        p.N = 768;
    }
    const Buffers sizes = family.buffers(p);
    std::vector<float> a(sizes.a), b(sizes.b), out(sizes.out);
    unsigned state = 1;
    const auto fill = [&](std::vector<float>& x, bool whole) {
        for (float& value : x) {
            state = state * 1664525u + 1013904223u;
            value = whole ? __uint_as_float(state >> 24) : static_cast<float>(state >> 8) / (1 << 23) - 1.0f;
        }
    };
    const bool whole = std::string_view(family.name) == "sums";
    fill(a, whole);
    fill(b, whole);
    fill(out, whole);
    if (whole) {
        out[0] = 0.0f;
    }
    float *on_out = nullptr, *on_a = nullptr, *on_b = nullptr;
    check(cudaMalloc(&on_out, out.size() * sizeof(float)));
    check(cudaMalloc(&on_a, a.size() * sizeof(float)));
    check(cudaMalloc(&on_b, b.size() * sizeof(float)));
    check(cudaMemcpy(on_out, out.data(), out.size() * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(on_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(on_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    const std::vector<float> expected = family.expected(kernel.name, p, a, b, out);
    p.out = on_out;
    p.a = on_a;
    p.b = on_b;
    kernel.launch(p);
    check(cudaGetLastError());
    check(cudaMemcpy(out.data(), on_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaFree(on_out));
    check(cudaFree(on_a));
    check(cudaFree(on_b));
    for (std::size_t i = 0; i < expected.size(); i++) {
        const bool same = whole ? __float_as_uint(out[i]) == __float_as_uint(expected[i])
                                : std::fabs(out[i] - expected[i]) <= 1e-4f * (1.0f + std::fabs(expected[i]));
        if (!same) {
            std::printf("WRONG %s, %s: element %zu is %g, expected %g\n", family.name, kernel.name, i, out[i],
                        expected[i]);
            return false;
        }
    }
    return true;
}

int check_all() {
    int wrong = 0, kernels = 0;
    for (const Family& family : families()) {
        for (const Published& kernel : family.kernels) {
            wrong += !is_right(family, kernel);
            kernels++;
        }
    }
    std::printf("%d kernels, %d wrong\n", kernels, wrong);
    return wrong > 0;
}

int list() {
    for (const Family& family : families()) {
        for (const Published& kernel : family.kernels) { std::printf("%s\t%s\n", family.name, kernel.name); }
    }
    return 0;
}

// ---- counting -----------------------------------------------------------------------------------------------------------

// Memory of the device, 0 where it is not too large to be touched as a whole.
constexpr std::size_t kMostWritten = std::size_t{192} << 20;  // bytes
struct OnDevice {
    float* data = nullptr;
    explicit OnDevice(long floats) {
        const std::size_t bytes = floats * sizeof(float);
        check(cudaMalloc(&data, bytes));
        if (bytes <= kMostWritten) {
            check(cudaMemset(data, 0, bytes));
        }
    }
    ~OnDevice() { static_cast<void>(cudaFree(data)); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
};

std::function<void()> launcher(const Published& kernel, const Problem& p) {
    return [&kernel, p] {
        kernel.launch(p);
        check(cudaGetLastError());
        check(cudaDeviceSynchronize());
    };
}

simt::LaunchTraffic some_blocks(const Published& kernel, const Problem& p, const std::vector<std::uint64_t>& blocks) {
    const simt::CountingTraffic counting;
    const simt::SamplingBlocks sampling({.choose = [&](const std::string&, dim3) { return blocks; }});
    launcher(kernel, p)();
    return simt::traffic_of_launches().at(0);
}

// What a block of a matmul touches: `own` of c, `across` that a block beside it in x does not touch, and `along` that it
// touches too. The last two grow with K. In sectors.
struct Footprint {
    double own, across, along, stores;
};

Footprint footprint(const Published& kernel, Problem p) {
    const auto runs_at = [&](long K) {
        p.K = K;
        return some_blocks(kernel, p, {0, 1}).distinct;
    };
    constexpr long kShort = 32, kLonger = 64;
    const long K = p.K;
    const auto at_short = runs_at(kShort), at_longer = runs_at(kLonger);
    // Of one block, and of two side by side, at K.
    const auto of = [&](std::size_t run, long channels) {
        const auto each = [&](const auto& runs) {
            return double(runs.at(run).load_sectors) / double(runs.at(run).runs);
        };
        return each(at_short) + (each(at_longer) - each(at_short)) / (kLonger - kShort) * double(channels - kShort);
    };
    const double own = of(0, 0);
    return {.own = own,
            .across = of(1, K) - of(0, K) - own,
            .along = 2 * of(0, K) - of(1, K),
            .stores = double(at_short.at(0).store_sectors) / double(at_short.at(0).runs)};
}

// A run of blocks has as many places in x as it can, and then goes on in the next row of them.
void spread(simt::LaunchTraffic& launch, const Footprint& block) {
    auto& distinct = launch.distinct;
    distinct.clear();
    for (std::uint64_t blocks = 1;; blocks = std::min(2 * blocks, launch.blocks)) {
        const auto in_x = static_cast<double>(std::min<std::uint64_t>(blocks, launch.grid.x));
        const auto rows = static_cast<double>((blocks + launch.grid.x - 1) / launch.grid.x), all = double(blocks);
        distinct.push_back(
            {.blocks = blocks,
             .runs = 1,
             .load_sectors = static_cast<std::uint64_t>(in_x * block.across + rows * block.along + all * block.own),
             .store_sectors = static_cast<std::uint64_t>(all * block.stores)});
        if (blocks == launch.blocks) {
            return;
        }
    }
}

std::string counted(const std::string& family_name, const std::string& kernel_name, Problem p) {
    for (const Family& family : families()) {
        for (const Published& kernel : family.kernels) {
            if (family.name == family_name && kernel.name == kernel_name) {
                const Buffers sizes = family.buffers(p);
                const OnDevice out(sizes.out), a(sizes.a), b(sizes.b);
                p.out = out.data;
                p.a = a.data;
                p.b = b.data;
                if (family_name == "sgemm") {  // all blocks do the same
                    simt::LaunchTraffic launch = some_blocks(kernel, p, {0});
                    spread(launch, footprint(kernel, p));
                    return simt::traffic_as_json({launch}, {});
                }
                return simt::traffic_as_json(simt::count_some_blocks(launcher(kernel, p)).launches, {});
            }
        }
    }
    throw std::invalid_argument(family_name + ", " + kernel_name + ": there is no such kernel; --list names them");
}

int count_all() {
    simt::report_at_exit(false);  // of memory that nobody has written
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::string family, kernel;
        Problem p;
        std::getline(words, family, '\t');
        std::getline(words, kernel, '\t');
        words >> p.M >> p.N >> p.K;
        std::string json = counted(family, kernel, p);
        std::erase(json, '\n');
        std::cout << json << std::endl;
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view word = count == 2 ? arguments[1] : "";
    try {
        if (word == "--check") {
            return check_all();
        }
        if (word == "--list") {
            return list();
        }
        if (word == "--count") {
            return count_all();
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "published: %s\n", error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: published --check | --list | --count\n");
    return 2;
}
