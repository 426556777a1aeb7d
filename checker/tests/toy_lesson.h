// SPDX-License-Identifier: MIT
//
// The cases of fakes/toy.h, for the check programs that the end-to-end tests are: `regular`, `no_mean` with a null output,
// `steps`, two calls of which the second goes on from the first one's grad, `again`, one call four times, and `grows`, calls
// with more and less scratch; where the device takes it `sampled`, bfloat16 that stay there.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

#include "checker/cases/lesson.h"
#include "checker/tests/fakes/toy.h"
#include "checker/worker/device_backend.h"

namespace toy_lesson {

inline constexpr int kN = 40, kC = 65;

// What a call reads and what it should give, in float64. grad is rounded, as the next step finds it.
struct Step {
    std::vector<float> x, v, grad_before, grad, loss{0}, out, rounded_out, bf16_out, mean, floor_of_out, floor_of_grad,
        floor_of_mean;
    Step(unsigned int seed, std::vector<float> before) : grad_before(std::move(before)) {
        const auto draw = [&](std::size_t count) {
            const checker::Input input = checker::normal("drawn", "N", {static_cast<long>(count)});
            std::vector<float> values(count);
            input.fill(std::as_writable_bytes(std::span(values)), seed++);
            return values;
        };
        x = draw(kN * kC);
        v = draw(kC);
        if (grad_before.empty()) {
            grad_before = rounded(draw(kC));
        }
        std::vector<double> sums(grad_before.begin(), grad_before.end());
        double squares = 0;
        for (std::size_t n = 0; n < kN; n++) {
            double product = 0, rounded_product = 0, bf16_product = 0, sum = 0, square = 0;
            for (std::size_t c = 0; c < kC; c++) {
                const double x_nc = x[n * kC + c], term = x_nc * v[c];
                product += term;
                rounded_product += static_cast<double>(checker::as_factor(x[n * kC + c], "tf32")) *
                                   static_cast<double>(checker::as_factor(v[c], "tf32"));
                bf16_product += static_cast<double>(checker::as_factor(x[n * kC + c], "bf16")) *
                                static_cast<double>(checker::as_factor(v[c], "bf16"));
                square += term * term;
                sum += x_nc;
                sums[c] += x_nc;
                squares += x_nc * x_nc;
            }
            out.push_back(static_cast<float>(product));
            rounded_out.push_back(static_cast<float>(rounded_product));
            bf16_out.push_back(static_cast<float>(bf16_product));
            mean.push_back(static_cast<float>(sum / kC));
            floor_of_mean.push_back(1e-7F);
            floor_of_out.push_back(
                static_cast<float>(0.3 * 0x1p-24 * std::sqrt(kC) * std::sqrt(square + product * product)));
        }
        loss[0] = static_cast<float>(squares);
        grad = rounded({sums.begin(), sums.end()});
        floor_of_grad = {1e-7F};
    }
    static std::vector<float> rounded(const std::vector<float>& values) {
        return checker::decode(checker::encode(values, checker::Element::bf16), checker::Element::bf16).values;
    }
};

// `left`: grad is what the call before has left. `scratch`: floats of scratch that the call asks for.
inline checker::Call call(checker::Lesson& lesson, const Step& step, const std::string& where, bool left,
                          bool with_mean, int scratch = 0) {
    const double tf32 = lesson.budget_factor("matmul.out", "tf32") / std::sqrt(kC);
    const auto reference = [](std::span<const float> values, std::span<const float> floor, double factor,
                              const std::string& precision) {
        return checker::Reference{{.values = values, .floor = floor, .factor = factor}, {}, precision};
    };
    const std::vector<long> channels{kC}, rows{kN};
    checker::Input before = left ? checker::carried_over("grad", "C", channels, checker::Element::bf16)
                                 : checker::input("grad", "C", channels, step.grad_before, checker::Element::bf16);
    checker::Call call{
        .where = where,
        .inputs = {checker::input("x", "N C", {kN, kC}, step.x), checker::input("v", "C", channels, step.v)},
        .outputs = {checker::output("out", "N", rows, reference(step.out, step.floor_of_out, tf32, "tf32")),
                    checker::inout(std::move(before), reference(step.grad, step.floor_of_grad, 8, "bf16")),
                    checker::output("loss", "", {}, reference(step.loss, step.floor_of_grad, 8e4, "fp32"))},
        .run = [scratch](const checker::Library& library, const checker::Buffers& at) {
            library.find<::toy>()(at.elements<std::uint16_t>("grad", checker::Element::bf16), at.f32("loss"),
                                  at.f32("out"), at.f32("mean"), at.f32("x"), at.f32("v"),
                                  scratch == 0 ? nullptr : static_cast<float*>(at.scratch("scratch")), kN, kC, scratch,
                                  at.kept<Context>());
        }};
    if (scratch > 0) {
        const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(scratch);
        call.scratch = {{"scratch", [bytes](const checker::Library&) { return bytes; }}};
    }
    if (with_mean) {
        call.outputs.push_back(checker::output("mean", "N", rows, reference(step.mean, step.floor_of_mean, 8, "fp32")));
    } else {
        call.null = {"mean"};
    }
    const auto rounded_as = [&step, with_mean](const std::vector<float>& out) {
        return [&step, &out, with_mean](const std::vector<std::span<const float>>&) {
            std::vector<checker::Computed> rounded;  // nothing else than out has factors
            for (const std::vector<float>* values : {&out, &step.grad, &step.loss, &step.mean}) {
                rounded.push_back({.values = *values, .floor = {}});
            }
            rounded.resize(with_mean ? 4 : 3);
            return rounded;
        };
    };
    call.rounded = rounded_as(step.rounded_out);
    call.rounded_to_bf16 = rounded_as(step.bf16_out);
    return call;
}

// The scratch alone, as an output of bfloat16 of which some elements are looked at.
inline checker::Call sampled_call() {
    constexpr int kFloats = 100;
    static constexpr double kValue = 0.74609375;  // 0x3F3F
    return {.where = "toy",
            .inputs = {},
            .outputs = {},
            .run =
                [](const checker::Library& library, const checker::Buffers& at) {
                    auto* const scratch = at.elements<std::uint16_t>("scratch", checker::Element::bf16);
                    library.find<::toy>()(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                          reinterpret_cast<float*>(scratch), 0, 0, kFloats, at.kept<Context>());
                },
            .sampled = checker::Sampled{.output = {.name = "scratch",
                                                   .role = checker::Role::output,
                                                   .element = checker::Element::bf16,
                                                   .dims = checker::Dims("N", {2 * kFloats})},
                                        .expected = [](long, const auto&) { return std::pair(kValue, 1e-7); },
                                        .factor = 1}};
}

// `steps` live as long as the lesson.
inline void register_toy(checker::Lesson& lesson, std::deque<Step>& steps) {
    const Step& first = steps.emplace_back(1, std::vector<float>{});
    const Step& second = steps.emplace_back(10, first.grad);
    checker::Op& op = lesson.op("toy", checker::defines<::toy>);
    const std::string shape = "N=40 C=65";
    op.add_case("regular", shape).calls.push_back(call(lesson, first, "toy", false, true));
    op.add_case("no_mean", shape).calls.push_back(call(lesson, second, "toy", false, false));
    checker::Case& sequence = op.add_case("steps", shape);
    sequence.sequence = true;
    sequence.calls = {call(lesson, first, "step 1", false, true), call(lesson, second, "step 2", true, true)};
    // The second one's alone: the handle and the workspace are there.
    sequence.calls.back().needed = {{"api_calls", 2}, {"allocations", 0}};
    checker::Case& again = op.add_case("again", shape);  // the same call four times
    again.sequence = true;
    again.calls = std::vector(4, call(lesson, first, "toy", false, true));
    checker::Case& grows = op.add_case("grows", shape);
    grows.sequence = true;
    for (const int scratch : {100, 100'000, 10}) {
        grows.calls.push_back(call(lesson, first, fmt::format("{} floats of scratch", scratch), false, true, scratch));
    }
    if (checker::device_backend().takes_sampled()) {
        op.add_case("sampled", "N=200").calls.push_back(sampled_call());
    }
    checker::Call timed = call(lesson, first, "", false, true);
    checker::Output& grad = timed.outputs.at(1);
    grad.element = [](long c, const std::vector<std::span<const float>>& inputs) {
        double sum = inputs[2][static_cast<std::size_t>(c)];
        for (int n = 0; n < kN; n++) { sum += inputs[0][static_cast<std::size_t>(n * kC + c)]; }
        return std::pair(sum, 1e-7);
    };
    grad.factor = 8;
    op.timed.push_back({.shape = shape, .call = std::move(timed)});
}

}  // namespace toy_lesson
