// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/predict.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "lessons/gpt2/check/model.h"

namespace cases {
namespace {

// The parameters' names begin with `prefix`.
void run_call(const Library& library, const Buffers& at, const Sizes& d, const ModelCall& model,
              const std::string& prefix, Context& ctx) {
    const Parameters params = model.bind_parameters(at, prefix);
    Activations acts = model.bind_activations(at);
    call_with(acts, ctx,
              [&] { library.find<predict>()(at.f32("logits"), acts, params, at.i32("tokens"), d["B"], d["T"], ctx); });
}

// The rows of a tensor (B, T, C) of the file that belong to the last of these tokens: the first `columns` of each.
std::vector<float> last_rows(std::span<const float> tensor, int T, long C, const Beginnings& of, long columns) {
    std::vector<float> rows;
    for (int b = of.first; b < of.first + of.B; b++) {
        const auto row = static_cast<std::size_t>((static_cast<long>(b) * T + of.T - 1) * C);
        for (const float value : tensor.subspan(row, static_cast<std::size_t>(columns))) {
            rows.push_back(of.doubled ? 2 * value : value);
        }
    }
    return rows;
}

checker::Call drawn_predict(const Sizes& d, const OpSpec& spec) {
    const ModelCall model(d, ActivationsAre::scratch, spec.has_probs);
    checker::Call call{.where = "", .inputs = {}, .outputs = {}, .scratch = model.scratch(), .run = {}};
    call.inputs.push_back(checker::on_host(checker::integers("tokens", "B T", {d["B"], d["T"]}, d["V"])));
    for (const ModelTensor& each : model.parameters()) { call.inputs.push_back(drawn(each)); }
    call.outputs.push_back(checker::on_host(checker::output("logits", "B V", {d["B"], d["V"]})));
    call.outputs.back().precision = spec.precision;
    return call;
}

}  // namespace

checker::Call predict_call(const checker::CaseFile& file, const OpSpec& spec, const Beginnings& of,
                           std::span<const WrongLogits> wrong, Vocabulary vocabulary) {
    Sizes d;
    for (const auto& [name, value] : file.dims()) { d.set(name, value); }
    const int T = d["T"], V = d["V"], columns = d["Vp"];  // columns of the file's logits
    d.set("Vp", vocabulary == Vocabulary::exact ? V : columns);
    const ModelCall earlier(d, ActivationsAre::scratch, spec.has_probs);  // room for all of the file's tokens
    const ModelCall model =
        of.other_acts ? ModelCall(d, ActivationsAre::scratch, spec.has_probs, "other_acts.") : earlier;
    d.set("B", of.B);
    d.set("T", of.T);
    const std::string prefix = of.doubled && !of.in_place ? "twice." : "";
    checker::Call call{.where = d.text("B T"), .inputs = {}, .outputs = {}, .scratch = model.scratch(), .run = {}};

    // What the call's tensors are filled from and compared with, where the file does not have it as it is: lives with the call.
    struct Kept {
        std::vector<std::int32_t> tokens;
        std::deque<std::vector<float>> values;
        std::span<const float> keep(std::vector<float> some) { return values.emplace_back(std::move(some)); }
    };
    const auto kept = std::make_shared<Kept>();
    for (int b = of.first; b < of.first + of.B; b++) {
        const auto tokens_b = file.i32("tokens").subspan(static_cast<std::size_t>(b) * static_cast<std::size_t>(T));
        kept->tokens.insert(kept->tokens.end(), tokens_b.begin(), tokens_b.begin() + of.T);
    }
    call.inputs.push_back(checker::on_host(checker::input("tokens", "B T", {of.B, of.T}, kept->tokens)));
    for (const auto& [buffer, name, dims, sizes, element] : model.parameters(prefix)) {
        std::span<const float> values = file.f32("param/" + name);
        if (of.doubled && name.starts_with("ln_f.")) {
            std::vector<float> twice(values.begin(), values.end());
            std::ranges::transform(twice, twice.begin(), [](float value) { return 2 * value; });
            values = kept->keep(std::move(twice));
        }
        if (name == "wte.weight") {
            values = values.first(static_cast<std::size_t>(sizes[0] * sizes[1]));
        }
        call.inputs.push_back(checker::input(buffer, dims, sizes, values, element));
    }

    for (const ModelTensor& each : of.other_acts ? earlier.activations() : std::vector<ModelTensor>()) {
        if (each.name == "encoded" || each.name == "logits") {
            const auto elements = static_cast<std::size_t>(checker::Dims(each.dims, each.sizes).elements());
            call.inputs.push_back(checker::input(each.buffer, each.dims, each.sizes,
                                                 kept->keep(std::vector<float>(elements, 0.5F)), each.element));
        }
    }

    checker::Reference reference = file.chained("logits", spec.precision);
    const auto logits_of = [&](const Beginnings& some) {
        return kept->keep(last_rows(file.f32("chained/logits"), T, columns, some, V));
    };
    reference.expected.values = logits_of(of);
    reference.expected.floor = kept->keep(last_rows(reference.expected.floor, T, 1, of, 1));
    reference.suspects.clear();  // of the whole tensor
    for (const WrongLogits& each : wrong) { reference.suspects.push_back({each.id, each.what, logits_of(each.are)}); }
    call.outputs.push_back(checker::on_host(checker::output("logits", "B V", {of.B, V}, std::move(reference))));
    call.run = [=](const Library& library, const Buffers& at) {
        static_cast<void>(kept);
        run_call(library, at, d, model, prefix, at.kept<Context>());
    };
    return call;
}

const OpSpec predict_spec{
    .name = "predict",
    .shape = "B T C NH L",
    .defined = defines<predict, forward_scratch_bytes>,
    .run = [](const Library& library, const Buffers& at, const Sizes& d,
              Context& ctx) { run_call(library, at, d, ModelCall(d, ActivationsAre::scratch), "", ctx); },
    // Computes one row of logits for each sequence.
    .cost = [](const Sizes& d) -> Cost { return {.flop = layers_flop(d) + 2.0 * d["B"] * d["C"] * d["V"]}; },
    .defaults = "V=50257 Vp=50304 max_T=1024",
    .dry_run = "B=1 T=16 C=48 NH=12 L=2 V=250 Vp=256 max_T=16",
    .warm = true,
    // All of the file's tokens, and fewer of one sequence, where there is room for more of both.
    .model_calls =
        [](const checker::CaseFile& file, const OpSpec& spec) {
            const int B = file.dim("B"), T = file.dim("T");
            return std::vector{predict_call(file, spec, {.first = 0, .B = B, .T = T}),
                               predict_call(file, spec, {.first = B - 1, .B = 1, .T = (T + 1) / 2})};
        },
    .drawn_call = drawn_predict};

}  // namespace cases
