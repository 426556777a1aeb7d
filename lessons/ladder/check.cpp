// SPDX-License-Identifier: MIT
//
// Any lesson's matmul at shapes that the environment names, SOL_LADDER="N=4096 C=768 OC=3072; N=4096 C=768 OC=768", and
// counted at N = C = OC = 256. What `make ladder` runs with one lesson's objects after another. And random shapes, as
// many as the lesson.toml says (SOL_LADDER_RANDOM=200), for which a lesson's own check has no time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checker/cases/blas.h"
#include "checker/worker/device_side.h"
#include "lessons/gpt2/check/cases.h"

namespace {

cases::MatmulDims parse(const std::string& shape) {
    constexpr int kMost = 1 << 20;
    cases::MatmulDims dims;
    int end = 0;
    const int found = std::sscanf(shape.c_str(), " N=%d C=%d OC=%d %n", &dims.N, &dims.C, &dims.OC, &end);
    const bool whole = found == 3 && end == static_cast<int>(shape.size());
    for (const int n : {dims.N, dims.C, dims.OC}) {
        if (!whole || n < 1 || n > kMost) {
            throw std::invalid_argument(fmt::format(
                "SHAPES: '{}' is no shape such as N=4096 C=768 OC=3072, each from 1 to {}; shapes are set apart by ;",
                shape, kMost));
        }
    }
    return dims;
}

checker::Vendor open_blas(const cases::MatmulDims& dims) {
    return {"OpenBLAS", [dims](const checker::Buffers& at) {
                checker::blas_matmul(at.f32("out"), at.f32("inp"), at.f32("weight"), at.f32("bias"), dims.N, dims.C,
                                     dims.OC, dims.stride());
            }};
}

// Rows of OC values as rows of out_stride.
checker::Computed spread(checker::Computed computed, const cases::MatmulDims& dims) {
    std::vector<float> rows(static_cast<std::size_t>(dims.N) * static_cast<std::size_t>(dims.stride()));
    for (long n = 0; n < dims.N; n++) {
        std::copy_n(computed.values.begin() + n * dims.OC, dims.OC, rows.begin() + n * dims.stride());
    }
    computed.values = std::move(rows);
    return computed;
}

// N, C and OC from 1 to 300, as many of them below 17 as above; rows of out up to 7 floats longer than what is written;
// every third without a bias. The same shapes each time.
void add_random_shapes(checker::Lesson& lesson, checker::Op& op) {
    static constexpr int kLargest = 300, kLonger = 7;
    const char* wanted = std::getenv("SOL_LADDER_RANDOM");
    const int shapes = wanted == nullptr ? 200 : std::atoi(wanted);
    const double factor = lesson.budget_factor("matmul.out");
    checker::Case& random = op.add_case("random", fmt::format("{} shapes up to {}", shapes, kLargest));
    std::mt19937 generator(8);
    const auto size = [&generator] {
        const double share = static_cast<double>(generator()) / static_cast<double>(std::mt19937::max());
        return std::min(kLargest, static_cast<int>(std::pow(kLargest + 1, share)));
    };
    for (int i = 0; i < shapes; i++) {
        cases::MatmulDims dims{.N = size(), .C = size(), .OC = size(), .bias = i % 3 != 0};
        dims.out_stride = dims.OC + static_cast<int>(generator() % (kLonger + 1));
        const auto compute = [=](const std::vector<std::span<const float>>& inputs) {
            return spread(
                checker::computed_matmul(inputs[0], inputs[1], dims.bias ? inputs[2] : std::span<const float>(), dims.N,
                                         dims.C, dims.OC, factor),
                dims);
        };
        checker::Call call{
            .where = fmt::format("{}, rows of {}{}", dims.text(), dims.stride(), dims.bias ? "" : ", no bias"),
            .inputs = {checker::normal("inp", "N C", {dims.N, dims.C}),
                       checker::normal("weight", "OC/o C", {dims.OC, dims.C})},
            .outputs = {checker::output("out", "N out_stride/o", {dims.N, dims.stride()}, compute)},
            .run = cases::run_matmul(dims)};
        call.outputs[0].columns = dims.OC;
        dims.bias ? call.inputs.push_back(checker::normal("bias", "OC/o", {dims.OC})) : call.null.push_back("bias");
        random.calls.push_back(std::move(call));
    }
}

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    checker::Op& matmul = cases::add_matmul(lesson);
    cases::add_matmul_shapes(lesson, matmul, {});
    add_random_shapes(lesson, matmul);
    if (lesson.takes_sampled()) {
        cases::add_sampled_matmul_case(lesson, matmul, "sampled", {.N = 300, .C = 33, .OC = 500});
    }
    if (lesson.rehearsal()) {  // more than any card has
        cases::add_sampled_matmul_case(lesson, matmul, "no_room", {.N = 1 << 20, .C = 1, .OC = 1 << 20});
    }
    const char* shapes = std::getenv("SOL_LADDER");
    std::istringstream all(shapes == nullptr ? "" : shapes);
    for (std::string shape; std::getline(all, shape, ';');) {
        const cases::MatmulDims dims = parse(shape);
        checker::Timed timed = cases::time_matmul(dims, lesson.budget_factor("matmul.out"));
        timed.library =
            checker::device_side() == nullptr ? open_blas(dims) : lesson.matmul_library(dims.N, dims.C, dims.OC);
        matmul.timed.push_back(std::move(timed));
    }
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "ladder", register_cases);
}
