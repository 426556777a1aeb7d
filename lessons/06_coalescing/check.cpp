// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    const bool small = lesson.rehearsal();
    const int T = small ? 8 : 1024, C = 768;
    checker::Op& residual = cases::add_residual(lesson);
    cases::add_shifted_residual_case(lesson, residual);
    checker::Op& gelu = cases::add_gelu(lesson);
    cases::add_shifted_gelu_case(lesson, gelu);
    checker::Op& layernorm = cases::add_layernorm(lesson);
    cases::add_wide_layernorm_case(lesson, layernorm);
    cases::add_shifted_layernorm_case(lesson, layernorm);
    // A request is 32 lanes' 16 bytes at best; of layernorm a row is read three times and written once, and the weights
    // and biases are read and a mean and a reciprocal deviation written beside it.
    constexpr double kFloat = sizeof(float), kRequestBytes = 32 * 16, kChannels = 128;
    const auto moves = [](double tensors) {
        return [=](double elements) -> std::vector<checker::Needed> {
            const double bytes = tensors * kFloat * elements;
            return {{"bytes_asked", bytes}, {"requests", bytes / kRequestBytes}, {"sectors"}};
        };
    };
    cases::count_rows(residual, moves(3));
    cases::count_rows(gelu, moves(2));
    cases::count_rows(layernorm, [](double elements) -> std::vector<checker::Needed> {
        const double rows = elements / kChannels;
        return {{"bytes_asked", kFloat * (6 * elements + 2 * rows)},
                {"requests", 6 * kFloat * elements / kRequestBytes + 2 * rows},
                {"sectors"}};
    });
    // Where all tensors start 4 bytes late, 128 bytes side by side lie in five sectors.
    const auto count_shifted = [](checker::Op& op, double tensors) {
        checker::Call& all_late = op.cases.back().calls.front();
        const auto elements = static_cast<double>(all_late.inputs.front().spec.dims.elements());
        all_late.needed = {{"bytes_moved", 5.0 / 4 * tensors * kFloat * elements}};
    };
    count_shifted(residual, 3);
    count_shifted(gelu, 2);
    for (const int B : {small ? 2 : 64, small ? 1 : 4}) {
        residual.timed.push_back(cases::time_residual(B * T * C));
        gelu.timed.push_back(cases::time_gelu(B * T * 4 * C));
        checker::Timed timed = cases::time_layernorm(B, T, C);
        const std::size_t rows = static_cast<std::size_t>(B) * T;
        timed.bytes_moved = sizeof(float) * (2 * rows * C + 2 * rows + 2 * C);  // as if a row were read once
        layernorm.timed.push_back(std::move(timed));
    }
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "06_coalescing", register_cases);
}
