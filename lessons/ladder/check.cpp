// SPDX-License-Identifier: MIT
//
// Any lesson's matmul at shapes that the environment names, SOL_LADDER="N=4096 C=768 OC=3072; N=4096 C=768 OC=768", and
// counted at N = C = OC = 256. What `make ladder` runs with one lesson's objects after another.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

#include "checker/blas.h"
#include "checker/device_side.h"
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

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    checker::Op& matmul = cases::add_matmul(lesson);
    cases::add_matmul_shapes(lesson, matmul, {});
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
