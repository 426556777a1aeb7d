// SPDX-License-Identifier: MIT
//
// Any lesson's matmul at shapes that the environment names, SOL_LADDER="N=4096 C=768 OC=3072; N=4096 C=768 OC=768", and
// counted at N = C = OC = 256. What `make ladder` runs with one lesson's objects after another. And random shapes, as
// many as the lesson.toml says (SOL_LADDER_RANDOM=200), for which a lesson's own check has no time. All but the named ones
// are rounded up to sizes that its matmul takes (SOL_LADDER_MULTIPLE_OF="N=16 C=16").
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "checker/worker/device_backend.h"
#include "lessons/gpt2/check/cases.h"

namespace {

cases::Sizes parse(const std::string& shape) {
    constexpr int kMost = 1 << 20;
    try {
        cases::Sizes sizes = cases::Sizes::of(shape);
        if (fmt::format("{}", fmt::join(cases::words(shape), " ")) == sizes.text("N C OC") &&
            std::max({sizes["N"], sizes["C"], sizes["OC"]}) <= kMost) {
            return sizes;
        }
    } catch (const std::invalid_argument&) {  // said below
    }
    throw std::invalid_argument(fmt::format(
        "SHAPES: '{}' is no shape such as N=4096 C=768 OC=3072, each from 1 to {}; shapes are set apart by ;", shape,
        kMost));
}

// What the sizes are multiples of.
cases::Sizes multiples() {
    const char* said = std::getenv("SOL_LADDER_MULTIPLE_OF");
    return (said == nullptr ? cases::Sizes() : cases::Sizes::of(said)).completed("N=1 C=1 OC=1 out_stride=1");
}

int rounded_up(int size, int multiple) {
    return (size + multiple - 1) / multiple * multiple;
}

// The shape, or the next larger one that the matmul takes, with rows of out OC floats long.
std::string taken(int N, int C, int OC) {
    const cases::Sizes multiple = multiples();
    return fmt::format("N={} C={} OC={}", rounded_up(N, multiple["N"]), rounded_up(C, multiple["C"]),
                       rounded_up(OC, std::lcm(multiple["OC"], multiple["out_stride"])));
}

// N, C and OC from 1 to 300, rounded up to their multiples, as many of them below 17 as above; rows of out up to 7 floats longer than what is written;
// every third without a bias. The same shapes each time.
void add_random_shapes(cases::OpCases& matmul) {
    static constexpr int kLargest = 300, kLonger = 7;
    const char* wanted = std::getenv("SOL_LADDER_RANDOM");
    const int shapes = wanted == nullptr ? 200 : std::atoi(wanted);
    checker::Case& random = matmul.op().add_case("random", fmt::format("{} shapes up to {}", shapes, kLargest));
    const cases::Sizes multiple = multiples();
    std::mt19937 generator(8);
    const auto size = [&](const char* name) {
        const double share = static_cast<double>(generator()) / static_cast<double>(std::mt19937::max());
        return rounded_up(std::min(kLargest, static_cast<int>(std::pow(kLargest + 1, share))), multiple[name]);
    };
    for (int i = 0; i < shapes; i++) {
        const int N = size("N"), C = size("C"), OC = size("OC");
        const int out_stride = rounded_up(OC + static_cast<int>(generator() % (kLonger + 1)), multiple["out_stride"]);
        const bool bias = i % 3 != 0;
        const cases::Sizes sizes{{"N", N}, {"C", C}, {"OC", OC}, {"out_stride", out_stride}};
        checker::Call call = matmul.drawn(sizes, bias ? std::vector<std::string>() : std::vector<std::string>{"bias"});
        call.where += fmt::format(", rows of {}{}", out_stride, bias ? "" : ", no bias");
        random.calls.push_back(std::move(call));
    }
}

}  // namespace

void cases::add_own(LessonCases& lesson) {
    OpCases& matmul = lesson.op("matmul");
    matmul.add_drawn("square", taken(kSquare, kSquare, kSquare));
    add_random_shapes(matmul);
    if (checker::device_backend().takes_sampled()) {
        matmul.add_sampled("sampled", taken(300, 33, 500));
    }
    if (checker::device_backend().dry_run()) {
        matmul.add_sampled("no_room", taken(1 << 20, 1, 1 << 20));  // more than any card has
    }
    const char* shapes = std::getenv("SOL_LADDER");
    std::istringstream all(shapes == nullptr ? "" : shapes);
    for (std::string shape; std::getline(all, shape, ';');) {
        matmul.add_timed(parse(shape), checker::Baseline::library);
    }
}
