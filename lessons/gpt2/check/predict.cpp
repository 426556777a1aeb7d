// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "lessons/gpt2/check/model.h"

namespace cases {
namespace {

// The parameters' names begin with `model`. Every parameter and every activation is a buffer of its own, so that whatever
// leaves its view is seen.
void run_call(const Library& library, const Buffers& at, const Sizes& d, const std::string& model, Context& ctx) {
    Parameters params(config_of(d));
    params.visit([&](const std::string& name, float*& view, const Shape&) { view = at.f32(model + name); });
    Activations acts(config_of(d), d["room_B"], d["room_T"]);
    acts.visit([&](const std::string& name, float*& view, const Shape&) {
        view = static_cast<float*>(at.scratch("acts." + name));
    });
    acts.scratch = at.scratch("scratch");
    library.find<predict>()(at.f32("logits"), acts, params, at.i32("tokens"), d["B"], d["T"], ctx);
}

// What predict works in, and leaves with anything in it.
std::vector<checker::Scratch> room(const Sizes& d) {
    std::vector<checker::Scratch> result{{"scratch", [=](const Library& library) {
                                              return library.find<forward_scratch_bytes>()(config_of(d), d["room_B"],
                                                                                           d["room_T"]);
                                          }}};
    Activations(config_of(d), d["room_B"], d["room_T"])
        .visit([&](const std::string& name, float*&, const Shape& shape) {
            const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * sizeof(float);
            result.push_back({"acts." + name, [=](const Library&) { return bytes; }});
        });
    return result;
}

Sizes with_room(Sizes d, int B, int T) {
    d.set("room_B", B);
    d.set("room_T", T);
    return d;
}

// The rows of a tensor (B, T, C) of the file that belong to the last of these tokens: the first `columns` of each.
std::vector<float> last_rows(std::span<const float> tensor, int T, long C, const Beginnings& of, long columns) {
    std::vector<float> rows;
    for (int b = of.first; b < of.first + of.B; b++) {
        const auto row = static_cast<std::size_t>((static_cast<long>(b) * T + of.T - 1) * C);
        for (const float value : tensor.subspan(row, static_cast<std::size_t>(columns))) {
            rows.push_back(of.of_twice ? 2 * value : value);
        }
    }
    return rows;
}

checker::Call drawn_call(const Sizes& sizes, const std::string& precision) {
    const Sizes d = with_room(sizes, sizes["B"], sizes["T"]);
    checker::Call call{.where = "", .inputs = {}, .outputs = {}, .scratch = room(d), .run = {}};
    call.inputs.push_back(checker::on_host(checker::integers("tokens", "B T", {d["B"], d["T"]}, d["V"])));
    visit_parameters(d, [&](const std::string& name, std::string_view dims, std::vector<long> axes) {
        call.inputs.push_back(checker::normal(name, dims, std::move(axes), 0.1F));
    });
    call.outputs.push_back(checker::on_host(checker::output("logits", "B V", {d["B"], d["V"]})));
    call.outputs.back().precision = precision;
    return call;
}

}  // namespace

checker::Call predict_call(const checker::CaseFile& file, const std::string& precision, const Beginnings& of,
                           std::span<const WrongLogits> wrong, Vocabulary vocabulary) {
    Sizes d;
    for (const auto& [name, value] : file.dims()) { d.set(name, value); }
    const int room_B = d["B"], T = d["T"], V = d["V"], columns = d["Vp"];  // columns of the file's logits
    d = with_room(d, room_B, T);
    d.set("B", of.B);
    d.set("T", of.T);
    d.set("Vp", vocabulary == Vocabulary::exact ? V : columns);
    const std::string model = of.of_twice ? "twice." : "";
    checker::Call call{.where = d.text("B T"), .inputs = {}, .outputs = {}, .scratch = room(d), .run = {}};

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
    visit_parameters(d, [&](const std::string& name, std::string_view dims, std::vector<long> sizes) {
        std::span<const float> values = file.f32("param/" + name);
        if (of.of_twice && name.starts_with("ln_f.")) {
            std::vector<float> twice(values.begin(), values.end());
            std::ranges::transform(twice, twice.begin(), [](float value) { return 2 * value; });
            values = kept->keep(std::move(twice));
        }
        if (name == "wte.weight") {
            values = values.first(static_cast<std::size_t>(sizes[0] * sizes[1]));
        }
        call.inputs.push_back(checker::input(model + name, dims, std::move(sizes), values));
    });

    checker::Reference reference = file.chained("logits", precision);
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
        run_call(library, at, d, model, at.kept<Context>());
    };
    return call;
}

const OpSpec predict_spec{
    .name = "predict",
    .shape = "B T C NH L",
    .defined = defines<predict, forward_scratch_bytes>,
    .run = [](const Library& library, const Buffers& at, const Sizes& d,
              Context& ctx) { run_call(library, at, with_room(d, d["B"], d["T"]), "", ctx); },
    // forward's matmuls and attention below the diagonal, but logits of one row for each sequence.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d["T"], C = d["C"];
        const double layer = 2 * rows * 12 * C * C + 2 * rows * (d["T"] + 1) * C;
        return {.flop = d["L"] * layer + 2 * d.number("B") * C * d["V"]};
    },
    .defaults = "V=50257 Vp=50304 max_T=1024",
    .rehearsal = "B=1 T=16 C=48 NH=12 L=2 V=250 Vp=256 max_T=16",
    .hot = true,
    // All of the file's tokens, and fewer of one sequence, where there is room for more of both.
    .model_calls =
        [](const checker::CaseFile& file, const std::string& precision) {
            const int B = file.dim("B"), T = file.dim("T");
            return std::vector{predict_call(file, precision, {.first = 0, .B = B, .T = T}),
                               predict_call(file, precision, {.first = B - 1, .B = 1, .T = (T + 1) / 2})};
        },
    .drawn_call = drawn_call};

}  // namespace cases
