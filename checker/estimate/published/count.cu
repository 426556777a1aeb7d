// SPDX-License-Identifier: MIT
//
// What the CPU device counts of the published kernels.
//
//   published --check                        every kernel at small sizes against a plain loop; the wrong ones are named
//   published --list                         families and kernels
//   published FAMILY KERNEL M N K            its launches at that size, by some of their blocks each, as JSON
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "checker/cuda_check.h"
#include "checker/estimate/published/kernels.h"

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

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words == std::vector<std::string>{"--check"}) {
        return check_all();
    }
    if (words == std::vector<std::string>{"--list"}) {
        return list();
    }
    std::fprintf(stderr, "usage: published --check | --list | FAMILY KERNEL M N K\n");
    return 2;
}
