// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/model.h"

namespace cases {
namespace {

void run_on(const ModelCall& model, const Library& library, const Buffers& at, Context& ctx) {
    const Parameters params = model.bind_parameters(at);
    Activations acts = model.bind_activations(at);
    call_with(acts, ctx, [&] { library.find<forward>()(acts, params, at.i32("tokens"), at.i32("targets"), ctx); });
}

// With targets a backward pass follows, and everything is filled; without, what losses need stays as it is.
checker::Call model_call(const checker::CaseFile& file, const OpSpec& spec, bool with_targets) {
    Sizes d;
    for (const auto& [name, value] : file.dims()) { d.set(name, value); }
    const ModelCall model(d, with_targets ? ActivationsAre::kept : ActivationsAre::outputs, spec.has_probs);
    checker::Call call{.where = "", .inputs = {}, .outputs = {}, .scratch = model.scratch(), .run = {}};
    call.where = with_targets ? "with targets" : "without targets";
    call.run = [model](const Library& library, const Buffers& at) { run_on(model, library, at, at.kept<Context>()); };
    for (const char* name : {"tokens", "targets"}) {
        call.inputs.push_back(checker::input(name, "B T", {d["B"], d["T"]}, file.i32(name)));
    }
    for (const ModelTensor& each : model.parameters()) {
        call.inputs.push_back(
            checker::input(each.buffer, each.dims, each.sizes, file.f32("param/" + each.name), each.element));
    }
    for (const auto& [buffer, name, dims, sizes, element] : model.output_activations()) {
        checker::Output output = checker::output(buffer, dims, sizes, file.chained(name, spec.precision), element);
        if (name == "logits" || name == "probs") {
            output.columns = d["V"];
            output.zero_in_padding = name == "logits" && spec.precision != "fp32";  // from lesson 11 on
        }
        output.stays_untouched = !with_targets && is_of_losses(name);
        call.outputs.push_back(std::move(output));
    }
    if (!with_targets) {
        call.null = {"targets"};
    }
    return call;
}

checker::Call drawn_call(const Sizes& d, const OpSpec& spec) {
    const ModelCall model(d, ActivationsAre::outputs, spec.has_probs);
    checker::Call call{.where = "", .inputs = {}, .outputs = {}, .scratch = model.scratch(), .run = {}};
    for (const char* name : {"tokens", "targets"}) {
        call.inputs.push_back(checker::integers(name, "B T", {d["B"], d["T"]}, d["V"]));
    }
    for (const ModelTensor& each : model.parameters()) { call.inputs.push_back(drawn(each)); }
    for (const ModelTensor& each : model.output_activations()) {
        call.outputs.push_back(checker::output(each.buffer, each.dims, each.sizes, each.element));
        call.outputs.back().precision = spec.precision;
    }
    return call;
}

}  // namespace

const OpSpec forward_spec{
    .name = "forward",
    .shape = "B T C NH L",
    .defined = defines<forward, forward_scratch_bytes>,
    .run = [](const Library& library, const Buffers& at, const Sizes& d,
              Context& ctx) { run_on(ModelCall(d, ActivationsAre::outputs), library, at, ctx); },
    .cost = [](const Sizes& d) -> Cost { return {.flop = layers_flop(d) + 2.0 * d["B"] * d["T"] * d["C"] * d["V"]}; },
    .defaults = "V=50257 Vp=50304 max_T=1024",
    .dry_run = "B=1 T=16 C=48 NH=12 L=2 V=250 Vp=256 max_T=16",
    .is_model = true,
    .warm = true,
    .model_calls =
        [](const checker::CaseFile& file, const OpSpec& spec) {
            return std::vector{model_call(file, spec, true), model_call(file, spec, false)};
        },
    .drawn_call = drawn_call};

}  // namespace cases
