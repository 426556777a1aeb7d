// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "lessons/gpt2/check/model.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

// Every parameter and every activation is a buffer of its own, so that whatever leaves its view is seen.
void run(const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
    const auto bind = [&](const std::string& name, float*& view, const Shape&) { view = at.f32(name); };
    Parameters params(config_of(d));
    params.visit(bind);
    Activations acts(config_of(d), d["B"], d["T"]);
    acts.visit(bind);
    acts.scratch = at.scratch("scratch");
    library.find<forward>()(acts, params, at.i32("tokens"), at.i32("targets"), ctx);
}

std::size_t scratch_bytes(const Library& library, const Sizes& d) {
    return library.find<forward_scratch_bytes>()(config_of(d), d["B"], d["T"]);
}

// Names of an activation's dimensions: of rank 2 they are (B, T), of rank 3 (B, T, C), but lse is (B, NH, T).
std::string_view dims_of(const std::string& name, const Shape& shape) {
    if (name.ends_with("lse")) {
        return "B NH/h T";
    }
    return shape.rank == 2 ? "B T" : "B T C";
}

// The call with its tensors made by these.
template <class Tokens, class Parameter, class Activation>
checker::Call call_of(const Sizes& d, Tokens tokens, Parameter parameter, Activation activation) {
    checker::Call call{.where = "", .inputs = {tokens("tokens"), tokens("targets")}, .outputs = {}, .run = {}};
    call.scratch = {{"scratch", [=](const Library& library) { return scratch_bytes(library, d); }}};
    visit_parameters(d, [&](const std::string& name, std::string_view dims, std::vector<long> sizes) {
        call.inputs.push_back(parameter(name, dims, std::move(sizes)));
    });
    Activations(config_of(d), d["B"], d["T"]).visit([&](const std::string& name, float*&, const Shape& shape) {
        call.outputs.push_back(activation(name, dims_of(name, shape), sizes_of(shape)));
    });
    return call;
}

// With targets everything is filled; without, probs and losses stay as they are.
checker::Call model_call(const checker::CaseFile& file, const std::string& precision, bool with_targets) {
    Sizes d;
    for (const auto& [name, value] : file.dims()) { d.set(name, value); }
    const auto tokens = [&](const std::string& name) {
        return checker::input(name, "B T", {d["B"], d["T"]}, file.i32(name));
    };
    const auto parameter = [&](const std::string& name, std::string_view dims, std::vector<long> sizes) {
        return checker::input(name, dims, std::move(sizes), file.f32("param/" + name));
    };
    const auto activation = [&](const std::string& name, std::string_view dims, std::vector<long> sizes) {
        checker::Output output = checker::output(name, dims, std::move(sizes), file.chained(name, precision));
        if (name == "logits" || name == "probs") {
            output.columns = d["V"];
            output.watch_padding = false;  // a forward may compute the padding too; what it holds is not looked at
        }
        output.stays_untouched = !with_targets && (name == "probs" || name == "losses");
        return output;
    };
    checker::Call call = call_of(d, tokens, parameter, activation);
    call.where = with_targets ? "with targets" : "without targets";
    if (!with_targets) {
        call.null = {"targets"};
    }
    call.run = run_of(forward_spec, d);
    return call;
}

checker::Call drawn_call(const Sizes& d, const std::string& precision) {
    const auto tokens = [&](const std::string& name) {
        return checker::integers(name, "B T", {d["B"], d["T"]}, d["V"]);
    };
    const auto parameter = [](const std::string& name, std::string_view dims, std::vector<long> sizes) {
        return checker::normal(name, dims, std::move(sizes), 0.1F);
    };
    const auto activation = [&](const std::string& name, std::string_view dims, std::vector<long> sizes) {
        checker::Output output = checker::output(name, dims, std::move(sizes));
        output.precision = precision;
        return output;
    };
    return call_of(d, tokens, parameter, activation);
}

}  // namespace

const OpSpec forward_spec{
    .name = "forward",
    .shape = "B T C NH L",
    .defined = defines<forward, forward_scratch_bytes>,
    .run = run,
    // The matmuls and attention below the diagonal.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d["T"], C = d["C"];
        const double layer = 2 * rows * 12 * C * C + 2 * rows * (d["T"] + 1) * C;
        return {.flop = d["L"] * layer + 2 * rows * C * d["V"]};
    },
    .defaults = "V=50257 Vp=50304 max_T=1024",
    .rehearsal = "B=1 T=16 C=48 NH=12 L=2 V=250 Vp=256 max_T=16",
    .is_model = true,
    .hot = true,
    .model_calls =
        [](const checker::CaseFile& file, const std::string& precision) {
            return std::vector{model_call(file, precision, true), model_call(file, precision, false)};
        },
    .drawn_call = drawn_call};

}  // namespace cases
