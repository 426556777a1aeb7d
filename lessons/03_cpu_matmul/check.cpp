// SPDX-License-Identifier: MIT
#include "checker/cases/blas.h"
#include "lessons/gpt2/check/cases.h"

namespace {

void add_matmul(checker::Lesson& lesson) {
    checker::Op& op = cases::add_matmul(lesson);
    cases::add_matmul_case(lesson, op, "op_wide");
    cases::add_matmul_case(lesson, op, "op_c63", 2);

    const double factor = lesson.budget_factor("matmul.out");
    // Many blocks each way, and tiles cut on every side: no tensor is committed, the reference is computed.
    const cases::MatmulDims ragged{.N = 203, .C = 1003, .OC = 1001};
    checker::Call call = cases::time_matmul(ragged, factor).call;
    call.run = cases::run_matmul(ragged);
    op.add_case("ragged", ragged.text()).calls.push_back(std::move(call));

    // GPT-2's own at B=4, T=64, and two squares.
    constexpr int N = 256, C = 768, V = 50257;
    for (const cases::MatmulDims& dims :
         {cases::MatmulDims{N, C, C}, cases::MatmulDims{N, C, 3 * C}, cases::MatmulDims{N, C, 4 * C},
          cases::MatmulDims{N, 4 * C, C}, cases::MatmulDims{1024, 1024, 1024}, cases::MatmulDims{999, 1003, 1001},
          cases::MatmulDims{N, C, V}}) {
        checker::Timed timed = cases::time_matmul(dims, factor);
        timed.library =
            checker::Vendor{"OpenBLAS", [dims](const checker::Buffers& at) {
                                checker::blas_matmul(at.f32("out"), at.f32("inp"), at.f32("weight"), at.f32("bias"),
                                                     dims.N, dims.C, dims.OC, dims.stride());
                            }};
        op.timed.push_back(std::move(timed));
    }
}

void add_gelu(checker::Lesson& lesson) {
    checker::Op& op = cases::add_gelu(lesson);
    cases::add_gelu_case(lesson, op, "op_wide");
    op.timed.push_back(cases::time_gelu(256 * 4 * 768));
}

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    add_matmul(lesson);
    add_gelu(lesson);
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "03_cpu_matmul", register_cases);
}
