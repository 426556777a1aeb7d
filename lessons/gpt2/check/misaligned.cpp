// SPDX-License-Identifier: MIT
//
// Calls of which some tensors start 4 bytes after a multiple of 64: their buffers have one float more in front, and the op
// gets a pointer behind it.
#include <algorithm>
#include <utility>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

using checker::Call;

// The buffers with those of `names` one float further on.
Buffers one_float_on(const Buffers& at, const std::vector<std::string>& names) {
    Buffers moved = at;
    for (const std::string& name : names) { moved.add(name, checker::Element::f32, at.f32(name) + 1); }
    return moved;
}

// The input behind a float that nobody reads.
checker::Input misaligned(checker::Input tensor) {
    tensor.spec.dims = checker::Dims("1+N/i", {1 + tensor.spec.dims.elements()});
    tensor.fill = [fill = std::move(tensor.fill)](std::span<std::byte> to, std::uint64_t seed) {
        std::ranges::fill(to.first(sizeof(float)), std::byte{});
        fill(to.subspan(sizeof(float)), seed);
    };
    return tensor;
}

// The output behind a float that should be `first`, with a floor for each element: the first row is no longer one.
checker::Output misaligned(const checker::Output& tensor, float first) {
    const checker::Expected expected = tensor.expected;
    return checker::output(tensor.spec.name, "1+N/i", {1 + tensor.spec.dims.elements()}, [=](const auto&) {
        checker::Computed computed{.values = {first}, .floor = {expected.floor.front()}, .factor = expected.factor};
        computed.values.insert(computed.values.end(), expected.values.begin(), expected.values.end());
        const std::size_t row = expected.values.size() / expected.floor.size();
        for (std::size_t i = 0; i < expected.values.size(); i++) { computed.floor.push_back(expected.floor[i / row]); }
        return computed;
    });
}

// The call with one tensor misaligned. In front of a misaligned output the op itself stores a float, since nobody else may:
// called at the sizes `smallest`, of one element, it should store `first`.
Call with_misaligned(const OpSpec& spec, Call call, const Sizes& sizes, const std::string& name, const Sizes& smallest,
                     float first) {
    bool is_output = false;
    for (checker::Input& input : call.inputs) {
        if (input.spec.name == name) {
            input = misaligned(std::move(input));
        }
    }
    for (checker::Output& output : call.outputs) {
        if (output.spec.name == name) {
            output = misaligned(output, first);
            is_output = true;
        }
    }
    call.where = name + " starts 4 bytes late, alone";
    call.needed = {};
    call.run = [=, run = spec.run](const Library& library, const Buffers& at) {
        Context& ctx = at.kept<Context>();
        if (is_output) {
            run(library, at, smallest, ctx);
        }
        run(library, one_float_on(at, {name}), sizes, ctx);
    };
    return call;
}

std::vector<std::string> tensors_of(const Call& call) {
    std::vector<std::string> names;
    for (const checker::Input& input : call.inputs) { names.push_back(input.spec.name); }
    for (const checker::Output& output : call.outputs) { names.push_back(output.spec.name); }
    return names;
}

}  // namespace

void add_misaligned_elementwise(OpCases& op) {
    const checker::Case& c63 = op.at("op_c63");
    const Call whole = c63.calls.front();
    const int N = calls_of(op.lesson().case_file("op_c63"), op.spec()).front().sizes["N"];
    const std::vector<std::string> tensors = tensors_of(whole);
    checker::Case& shifted = op.op().add_case("shifted", c63.shape);
    Call all = whole;
    all.where = "all start 4 bytes late";
    all.run = [=, run = op.spec().run](const Library& library, const Buffers& at) {
        Context& ctx = at.kept<Context>();
        run(library, at, {{"N", 1}}, ctx);
        run(library, one_float_on(at, tensors), {{"N", N - 1}}, ctx);
    };
    shifted.calls.push_back(std::move(all));
    const float first = whole.outputs.front().expected.values.front();
    for (const std::string& name : tensors) {
        shifted.calls.push_back(with_misaligned(op.spec(), whole, {{"N", N}}, name, {{"N", 1}}, first));
    }
}

void add_misaligned_layernorm(OpCases& layernorm, const std::string& of_file) {
    const checker::CaseFile& file = layernorm.lesson().case_file(of_file);
    const FileCall first_call = calls_of(file, layernorm.spec()).front();
    const checker::Case& rows = layernorm.at(first_call.case_name);
    const Call whole = rows.calls.front();
    const Sizes one{{"B", 1}, {"T", 1}, {"C", 1}};
    const auto first_of = [&](const std::string& tensor) { return file.f32(first_call.args.at(tensor)).front(); };
    checker::Case& shifted = layernorm.op().add_case("shifted", rows.shape);
    for (const std::string& name : tensors_of(whole)) {
        if (name != "mean" && name != "rstd") {
            // A row of one channel is at its mean, so that the bias is left.
            const float first = name == "residual" ? first_of("inp1") + first_of("inp2") : first_of("bias");
            shifted.calls.push_back(with_misaligned(layernorm.spec(), whole, first_call.sizes, name, one, first));
        }
    }
}

void add_misaligned_causal_softmax(OpCases& causal_softmax) {
    const checker::Case& regular = causal_softmax.at("regular");
    const Call whole = regular.calls.front();
    const FileCall first_call = calls_of(causal_softmax.lesson().case_file("regular"), causal_softmax.spec()).front();
    const Sizes one{{"B", 1}, {"NH", 1}, {"T", 1}, {"scale", 1}};  // one token's probability is 1
    checker::Case& shifted = causal_softmax.op().add_case("shifted", regular.shape);
    for (const std::string name : {"scores", "att"}) {
        shifted.calls.push_back(with_misaligned(causal_softmax.spec(), whole, first_call.sizes, name, one, 1));
    }
}

void add_misaligned_matmul(OpCases& matmul) {
    static constexpr int N = 9, C = 20, OC = 12;
    const Sizes sizes{{"N", N}, {"C", C}, {"OC", OC}, {"out_stride", OC}};
    Call call = matmul.drawn(sizes);
    call.where = "matmul.out";
    for (checker::Input& input : call.inputs) {
        if (input.spec.name != "bias") {
            const long elements = 1 + input.spec.dims.elements();
            input = checker::normal(input.spec.name, input.spec.name == "inp" ? "1+N*C/i" : "1+OC*C/i", {elements});
        }
    }
    checker::Output& out = call.outputs.front();
    out.compute = [compute = out.compute](const Values& inputs) {
        return compute({inputs[0].subspan(1), inputs[1].subspan(1), inputs[2]});
    };
    call.run = [run = matmul.spec().run](const Library& library, const Buffers& at) {
        Context& ctx = at.kept<Context>();
        const Buffers moved = one_float_on(at, {"inp", "weight"});
        const Sizes first_column{{"N", N}, {"C", C}, {"OC", 1}, {"out_stride", OC}};
        const Sizes others{{"N", N}, {"C", C}, {"OC", OC - 1}, {"out_stride", OC}};
        run(library, moved, first_column, ctx);
        Buffers rest = one_float_on(moved, {"out", "bias"});
        rest.add("weight", checker::Element::f32, moved.f32("weight") + C);
        run(library, rest, others, ctx);
    };
    matmul.op().add_case("shifted", sizes.text(matmul.spec().shape)).calls.push_back(std::move(call));
}

}  // namespace cases
