// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

// A request is 32 lanes' 16 bytes at best.
constexpr double kRequestBytes = 32 * 16;

// Of the calls whose rows begin on sectors and have 128 channels: what a tensor's `elements` make necessary.
void count(cases::OpCases& op, std::vector<checker::Needed> (*needed)(double elements)) {
    for (checker::Call& call : op.at("head64").calls) {
        call.needed = needed(static_cast<double>(call.inputs[0].spec.dims.elements()));
    }
}

template <int tensors>
std::vector<checker::Needed> each_once(double elements) {
    const double bytes = tensors * cases::kFloat * elements;
    return {{"bytes_asked", bytes}, {"requests", bytes / kRequestBytes}, {"sectors"}};
}

// A row is read three times and written once, the weights and biases are read, and a mean and a reciprocal deviation
// written.
template <int channels>
std::vector<checker::Needed> of_layernorm(double elements) {
    const double rows = elements / channels;
    return {{"bytes_asked", cases::kFloat * (6 * elements + 2 * rows)},
            {"requests", 6 * cases::kFloat * elements / kRequestBytes + 2 * rows},
            {"sectors"}};
}

// Where all tensors start 4 bytes after a sector does, 128 bytes side by side lie in five sectors.
void count_misaligned(cases::OpCases& op, double tensors) {
    checker::Call& all = op.at("shifted").calls.front();
    const auto elements = static_cast<double>(all.inputs.front().spec.dims.elements());
    all.needed = {{"bytes_moved", 5.0 / 4 * tensors * cases::kFloat * elements}};
}

}  // namespace

void cases::add_own(LessonCases& lesson) {
    OpCases &residual = lesson.op("residual"), &gelu = lesson.op("gelu"), &layernorm = lesson.op("layernorm");
    add_misaligned(residual, "head64");
    add_misaligned(gelu, "head64");
    add_misaligned(layernorm, "head64");
    residual.add_drawn("edge", "N=1025");  // one element more than a block has
    gelu.add_drawn("edge", "N=1025");
    layernorm.add_drawn("edge",
                        "B=1 T=9 C=33");  // one row more than a block has, one channel more than a warp has lanes
    count(residual, each_once<3>);
    count(gelu, each_once<2>);
    count(layernorm, of_layernorm<128>);
    layernorm.add_drawn("row768", "B=2 T=8 C=768").calls.back().needed = of_layernorm<768>(2.0 * 8 * 768);
    count_misaligned(residual, 3);
    count_misaligned(gelu, 2);
}
