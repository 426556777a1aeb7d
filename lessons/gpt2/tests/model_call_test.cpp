// SPDX-License-Identifier: MIT
//
// ModelCall in a fake training step: beside the parameters it has their gradients, a second set that it changes in place.
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lessons/gpt2/check/model.h"

using cases::ActivationsAre;
using cases::call_with;
using cases::ModelCall;
using cases::ModelTensor;
using cases::Sizes;

namespace {

const Sizes kTiny{{"B", 2}, {"T", 3}, {"C", 4}, {"NH", 2}, {"L", 2}, {"V", 5}, {"Vp", 8}, {"max_T", 6}};

checker::Call step_call(const ModelCall& model) {
    checker::Call call{.where = "", .inputs = {}, .outputs = {}, .scratch = model.scratch(), .run = {}};
    for (const ModelTensor& each : model.parameters()) { call.inputs.push_back(cases::drawn(each)); }
    for (const ModelTensor& each : model.parameters("grad.")) {
        call.outputs.push_back(checker::inout(cases::drawn(each)));
    }
    return call;
}

// Adds each parameter to its gradient, and writes the activations.
void step(Activations& acts, Parameters& grads, Parameters& params) {
    std::vector<const float*> values;
    params.visit([&](const std::string&, float*& view, const Shape&) { values.push_back(view); });
    std::size_t i = 0;
    grads.visit([&](const std::string&, float*& view, const Shape& shape) {
        for (long k = 0; k < shape.elements(); k++) { view[k] += values[i][k]; }
        i++;
    });
    acts.visit([](const std::string&, float*& view, const Shape& shape) { view[shape.elements() - 1] = 1; });
}

// Memory for each tensor of a call, which the call's views are bound to.
class Memory {
  public:
    void add(const checker::BufferSpec& spec, const checker::FillFunction& fill) {
        std::vector<float>& values = of_[spec.name];
        values.resize(static_cast<std::size_t>(spec.dims.elements()));
        fill(std::as_writable_bytes(std::span(values)), 1);
        at_.add(spec.name, spec.element, values.data());
    }
    void add_scratch(const std::string& name, std::size_t elements) {
        of_[name].resize(elements);
        at_.add(name, checker::Element::byte, of_[name].data());
    }
    const checker::Buffers& buffers() const { return at_; }
    const std::vector<float>& operator[](const std::string& name) const { return of_.at(name); }

  private:
    std::map<std::string, std::vector<float>> of_;
    checker::Buffers at_;
};

TEST(ModelCall, ListsGradientsAsParametersWithPrefix) {
    const ModelCall model(kTiny, ActivationsAre::scratch);
    const checker::Call call = step_call(model);
    ASSERT_EQ(call.inputs.size(), 28U);  // 12 for each of two layers, and wte, wpe, ln_f's two
    ASSERT_EQ(call.outputs.size(), call.inputs.size());
    for (std::size_t i = 0; i < call.inputs.size(); i++) {
        const checker::BufferSpec &parameter = call.inputs[i].spec, &gradient = call.outputs[i].spec;
        EXPECT_EQ(gradient.name, "grad." + parameter.name);
        EXPECT_EQ(gradient.dims.text(), parameter.dims.text()) << parameter.name;
        EXPECT_EQ(gradient.role, checker::Role::inout) << parameter.name;
    }
    EXPECT_EQ(call.outputs[0].spec.name, "grad.wte.weight");
    EXPECT_EQ(call.outputs[0].spec.dims.text(), "O=8, C=4");
    EXPECT_EQ(model.parameters("grad.").at(1).name, "wpe.weight") << "the name in a case file has no prefix";
}

TEST(ModelCall, ListsActivationsInScratchOnlyIfTheyAreScratch) {
    const ModelCall scratch(kTiny, ActivationsAre::scratch), outputs(kTiny, ActivationsAre::kept);
    const std::vector<ModelTensor> activations = outputs.activations();
    ASSERT_EQ(outputs.scratch().size(), 1U);
    EXPECT_EQ(outputs.scratch()[0].name, "scratch");
    ASSERT_EQ(scratch.scratch().size(), 1 + activations.size());
    EXPECT_EQ(activations[6].buffer, "h.0.lse");
    EXPECT_EQ(checker::Dims(activations[6].dims, activations[6].sizes).text(), "B=2, NH=2, T=3");
    for (std::size_t i = 0; i < activations.size(); i++) {
        EXPECT_EQ(activations[i].buffer, activations[i].name);
        EXPECT_EQ(scratch.scratch()[i + 1].name, "acts." + activations[i].name);
    }
}

TEST(ModelCall, BindsEachViewToItsBuffer) {
    const ModelCall model(kTiny, ActivationsAre::scratch);
    const checker::Call call = step_call(model);
    Memory memory;
    for (const checker::Input& input : call.inputs) { memory.add(input.spec, input.fill); }
    for (const checker::Output& output : call.outputs) { memory.add(output.spec, output.initial); }
    memory.add_scratch("acts.scratch", 1);
    for (const ModelTensor& each : model.activations()) {
        memory.add_scratch(each.buffer, static_cast<std::size_t>(checker::Dims(each.dims, each.sizes).elements()));
    }
    const Memory before = memory;

    Activations acts = model.bind_activations(memory.buffers());
    Parameters params = model.bind_parameters(memory.buffers());
    Parameters grads = model.bind_parameters(memory.buffers(), "grad.");
    step(acts, grads, params);

    EXPECT_EQ(acts.scratch, memory["acts.scratch"].data());
    for (const ModelTensor& each : model.parameters()) {
        const std::string gradient = "grad." + each.name;
        std::vector<float> sum = before[gradient];
        for (std::size_t k = 0; k < sum.size(); k++) { sum[k] += before[each.name][k]; }
        EXPECT_EQ(memory[gradient], sum) << gradient;
        EXPECT_EQ(memory[each.name], before[each.name]) << each.name;
    }
    for (const ModelTensor& each : model.activations()) { EXPECT_EQ(memory[each.buffer].back(), 1) << each.buffer; }
}

TEST(ModelCall, BindsActivationsThatAreOutputs) {
    const ModelCall model(kTiny, ActivationsAre::kept);
    checker::Buffers buffers;
    std::map<std::string, float> values;
    for (const ModelTensor& each : model.activations()) {
        buffers.add(each.buffer, checker::Element::f32, &values[each.buffer]);
    }
    buffers.add("scratch", checker::Element::byte, nullptr);
    const Activations acts = model.bind_activations(buffers);
    EXPECT_EQ(acts.h.at(1).lse, &values["h.1.lse"]);
    EXPECT_EQ(acts.losses, &values["losses"]);
    EXPECT_TRUE(acts.backward_follows);
}

TEST(ModelCall, ThrowsIfTheCallLeavesActsOrTheStreamChanged) {
    Context ctx;
    Activations acts;
    acts.B = 2, acts.T = 8;
    EXPECT_NO_THROW(call_with(acts, ctx, [] {}));
    EXPECT_NO_THROW(call_with(acts, ctx, [&] { const Narrowed narrowed(acts, 1, 4); }));
    EXPECT_THROW(call_with(acts, ctx, [&] { acts.T = 4; }), checker::LeftChanged);
    EXPECT_THROW(call_with(acts, ctx, [&] { acts.B = 1; }), checker::LeftChanged);
    EXPECT_THROW(call_with(acts, ctx, [&] { ctx.stream = reinterpret_cast<CUstream_st*>(&ctx); }),
                 checker::LeftChanged);
}

TEST(ModelCall, BindsLogSumExpsWhereTheCallHasNoProbabilities) {
    const ModelCall model(kTiny, ActivationsAre::kept, /*has_probs=*/false);
    checker::Buffers buffers;
    std::map<std::string, float> values;
    for (const ModelTensor& each : model.activations()) {
        buffers.add(each.buffer, checker::Element::f32, &values[each.buffer]);
        if (each.name == "loss_lse") {
            EXPECT_EQ(checker::Dims(each.dims, each.sizes).text(), "B=2, T=3");
        }
    }
    buffers.add("scratch", checker::Element::byte, nullptr);
    const Activations acts = ModelCall(kTiny, ActivationsAre::kept).bind_activations(buffers);
    EXPECT_EQ(acts.loss_lse, &values.at("loss_lse"));
    EXPECT_EQ(acts.probs, nullptr);
    EXPECT_FALSE(acts.has_probs);
}

TEST(ModelCall, JudgesFcOnlyIfABackwardPassFollows) {
    const ModelCall kept(kTiny, ActivationsAre::kept), outputs(kTiny, ActivationsAre::outputs);
    EXPECT_EQ(kept.output_activations().size(), kept.activations().size());
    std::vector<std::string> left_out, scratch;
    for (const ModelTensor& each : outputs.activations()) { left_out.push_back(each.buffer); }
    for (const ModelTensor& each : outputs.output_activations()) { std::erase(left_out, each.buffer); }
    for (const checker::Scratch& each : outputs.scratch()) { scratch.push_back(each.name); }
    EXPECT_EQ(left_out, (std::vector<std::string>{"h.0.fc", "h.1.fc"}));
    EXPECT_EQ(scratch, (std::vector<std::string>{"scratch", "h.0.fc", "h.1.fc"}));

    checker::Buffers buffers;
    std::map<std::string, float> values;
    for (const ModelTensor& each : outputs.output_activations()) {
        buffers.add(each.buffer, checker::Element::f32, &values[each.buffer]);
    }
    for (const std::string& each : scratch) { buffers.add(each, checker::Element::byte, &values[each]); }
    const Activations acts = outputs.bind_activations(buffers);
    EXPECT_EQ(acts.h.at(1).fc, &values["h.1.fc"]);
    EXPECT_EQ(acts.h.at(1).fc_gelu, &values["h.1.fc_gelu"]);
    EXPECT_FALSE(acts.backward_follows);
}

std::size_t room_for_bf16(const Config& /*config*/, int B, int T) {
    return static_cast<std::size_t>(B) * static_cast<std::size_t>(T);
}
using InBf16 = cases::ModelCallOf<__nv_bfloat16, room_for_bf16>;

TEST(ModelCallInBf16, ListsEachTensorsElement) {
    const InBf16 model(kTiny, ActivationsAre::kept);
    for (const ModelTensor& each : model.parameters("grad.")) {
        EXPECT_EQ(each.element, checker::Element::bf16) << each.buffer;
        EXPECT_EQ(cases::drawn(each).spec.element, checker::Element::bf16) << each.buffer;
    }
    std::vector<std::string> floats;
    for (const ModelTensor& each : model.activations()) {
        if (each.element == checker::Element::f32 && !each.name.starts_with("h.1.")) {
            floats.push_back(each.name);
        }
    }
    EXPECT_EQ(floats, (std::vector<std::string>{"h.0.ln_1_mean", "h.0.ln_1_rstd", "h.0.lse", "h.0.ln_2_mean",
                                                "h.0.ln_2_rstd", "ln_f_mean", "ln_f_rstd", "losses"}));
}

TEST(ModelCallInBf16, AsksForScratchOfEachElement) {
    const InBf16 model(kTiny, ActivationsAre::scratch);
    const checker::Library nothing("build/impl/solutions/02_forward/forward.so");
    std::map<std::string, std::size_t> bytes;
    for (const checker::Scratch& each : model.scratch()) {
        if (each.name != "acts.scratch") {
            bytes[each.name] = each.bytes(nothing);
        }
    }
    EXPECT_EQ(bytes.at("acts.h.0.qkv"), 2 * 3 * 12 * 2U);  // B, T, 3C, and two bytes each
    EXPECT_EQ(bytes.at("acts.h.0.lse"), 2 * 2 * 3 * 4U);   // B, NH, T, and four
}

TEST(ModelCallInBf16, BindsViewsOfEachElement) {
    const InBf16 model(kTiny, ActivationsAre::kept);
    checker::Buffers buffers;
    std::map<std::string, float> values;
    for (const ModelTensor& each : model.activations()) {
        buffers.add(each.buffer, each.element, &values[each.buffer]);
    }
    for (const ModelTensor& each : model.parameters("grad.")) {
        buffers.add(each.buffer, each.element, &values[each.buffer]);
    }
    buffers.add("scratch", checker::Element::byte, nullptr);
    const ActivationsOf<__nv_bfloat16> acts = model.bind_activations(buffers);
    const ParametersOf<__nv_bfloat16> grads = model.bind_parameters(buffers, "grad.");
    EXPECT_EQ(acts.h.at(1).lse, &values["h.1.lse"]);
    EXPECT_EQ(static_cast<void*>(acts.h.at(1).qkv), &values["h.1.qkv"]);
    EXPECT_EQ(static_cast<void*>(grads.wte), &values["grad.wte.weight"]);
}

}  // namespace
