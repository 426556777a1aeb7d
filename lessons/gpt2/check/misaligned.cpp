// SPDX-License-Identifier: MIT
//
// Calls of which some tensors start 4 bytes after a multiple of 64.
#include <algorithm>
#include <utility>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

using checker::Call;

std::vector<std::string> tensors_of(const Call& call) {
    std::vector<std::string> names;
    for (const checker::Input& input : call.inputs) { names.push_back(input.spec.name); }
    for (const checker::Output& output : call.outputs) { names.push_back(output.spec.name); }
    return names;
}

// Returns the call with these tensors misaligned. A library may then do without tensor cores, so that the factors' rounding
// is not judged.
Call misaligned(Call call, const std::vector<std::string>& names, std::string where) {
    const auto move = [&](checker::BufferSpec& spec) {
        if (std::ranges::find(names, spec.name) != names.end()) {
            spec.misalignment = sizeof(float);
        }
    };
    for (checker::Input& input : call.inputs) { move(input.spec); }
    for (checker::Output& output : call.outputs) { move(output.spec); }
    call.where = std::move(where);
    call.needed = {};
    call.rounded = {};
    return call;
}

}  // namespace

static checker::Case& add_misaligned(OpCases& op, const Call& whole, const std::string& shape) {
    checker::Case& shifted = op.op().add_case("shifted", shape);
    shifted.calls.push_back(misaligned(whole, tensors_of(whole), "all start 4 bytes late"));
    for (const std::string& name : tensors_of(whole)) {
        shifted.calls.push_back(misaligned(whole, {name}, name + " starts 4 bytes late, alone"));
    }
    // A tensor of fewer floats than lie in front of a multiple of 64 bytes.
    const auto few = std::ranges::find(op.op().cases, "few", &checker::Case::name);
    if (few != op.op().cases.end() && few->calls.size() == 1) {
        const Call& call = few->calls.front();
        shifted.calls.push_back(misaligned(call, tensors_of(call), few->shape + ", all start 4 bytes late"));
    }
    return shifted;
}

checker::Case& add_misaligned(OpCases& op, const std::string& of_case) {
    const checker::Case& aligned = op.at(of_case);
    const Call whole = aligned.calls.front();  // a copy: the case moves when one is added
    return add_misaligned(op, whole, std::string(aligned.shape));
}

void add_misaligned_if_none(OpCases& op) {
    if (!op.spec().turns.empty() &&
        std::ranges::find(op.op().cases, "shifted", &checker::Case::name) == op.op().cases.end()) {
        const Sizes sizes = Sizes::of(op.spec().turns);
        add_misaligned(op, op.drawn(sizes.completed(op.spec().defaults)), sizes.text(op.spec().shape));
    }
}

checker::Case& add_misaligned_in_turn(OpCases& op, const std::string& of_case) {
    checker::Case& shifted = add_misaligned(op, of_case);
    shifted.sequence = true;
    Call whole = op.at(of_case).calls.front();
    whole.where = "all are aligned";
    whole.needed = {};
    shifted.calls.insert(shifted.calls.begin(), std::move(whole));
    return shifted;
}

void add_misaligned_matmul(OpCases& matmul) {
    matmul.add_drawn("whole_vectors", "N=9 C=20 OC=12");
    add_misaligned(matmul, "whole_vectors");
}

}  // namespace cases
