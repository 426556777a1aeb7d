// SPDX-License-Identifier: MIT
//
// The whole step of a lesson on the small model: calls in turn on one Context, as a program makes them. What an op keeps from
// one call to the next meets other lengths, the other ops' calls and other weights at the same addresses.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checker/base/course.h"
#include "checker/base/files.h"
#include "checker/base/stub.h"
#include "lessons/gpt2/check/cases.h"
#include "lessons/gpt2/check/model.h"
#include "lessons/gpt2/check/predict.h"

namespace cases {
namespace {

// Returns the precision of the whole model at this step: the one that the newest lesson up to it says of forward.
std::string precision_of_step(const checker::Lesson& lesson) {
    std::string newest = "fp32";
    for (const auto& [name, files] : checker::solution_files()) {
        const std::filesystem::path toml = std::filesystem::path("lessons") / name / "lesson.toml";
        if (name <= lesson.name() && checker::has_kernels(name) && std::filesystem::exists(toml)) {
            const auto said = checker::read_lesson_toml(toml).precision;
            newest = said.contains("forward") ? said.at("forward") : newest;
        }
    }
    return checker::has_kernels(lesson.name()) ? newest : "fp32";
}

// Returns true if predict of this step is the lesson's, or keeps more from call to call than the one that lesson 05 gives, which
// only calls forward.
bool keeps_in_predict(const std::string& lesson) {
    const std::filesystem::path newest = checker::newest_solution(lesson, "predict");
    return checker::has_kernels(lesson) &&
           (newest.parent_path().filename() == lesson || !checker::is_given(checker::read_file(newest)));
}

// A tensor of the case file by its axes, of which part is taken: B sequences from `first` on, and T tokens of each.
class Part {
  public:
    Part(const std::vector<long>& sizes, std::string_view dims, const Beginnings& of) : of_(of) {
        const std::vector<std::string> names = words(dims);
        for (std::size_t axis = 1; axis < sizes.size(); axis++) {
            if (names[axis] == "T") {
                T_ = sizes[axis];
            } else {
                (T_ == 0 ? before_ : after_) *= sizes[axis];
            }
        }
        last_ = names.back() == "T" ? 1 : sizes.back();
        is_row_of_T_ = names.back() == "T";
    }

    std::vector<float> of(std::span<const float> values, float factor) const {
        return take(values, T_, after_, factor);
    }
    // Floors are of elements or of rows.
    std::vector<float> of_floors(std::span<const float> floors, long elements, float factor) const {
        if (std::ssize(floors) == elements) {
            return of(floors, factor);
        }
        return is_row_of_T_ ? take(floors, 0, 1, factor) : take(floors, T_, after_ / last_, factor);
    }

  private:
    // `T` 0: the values have no such axis.
    std::vector<float> take(std::span<const float> values, long T, long after, float factor) const {
        std::vector<float> result;
        for (long row = of_.first * before_; row < (of_.first + of_.B) * before_; row++) {
            const long begin = row * std::max(T, 1L) * after, count = (T == 0 ? 1 : of_.T) * after;
            for (const float value : values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count))) {
                result.push_back(factor * value);
            }
        }
        return result;
    }

    Beginnings of_;
    long T_ = 0, before_ = 1, after_ = 1, last_ = 1;
    bool is_row_of_T_ = false;
};

// Returns a call of forward on part of the file's tokens. `of.doubled`: the last layernorm gives twice as much.
checker::Call forward_call(const checker::CaseFile& file, const OpSpec& spec, const Beginnings& of, bool with_targets) {
    struct Kept {
        std::deque<std::vector<float>> floats;
        std::deque<std::vector<std::int32_t>> integers;
        std::span<const float> keep(std::vector<float> some) { return floats.emplace_back(std::move(some)); }
    };
    const auto kept = std::make_shared<Kept>();
    Sizes d;
    for (const auto& [name, value] : file.dims()) { d.set(name, value); }
    const ModelCall whole(d, ActivationsAre::outputs, spec.has_probs);
    const int T = d["T"];
    d.set("B", of.B);
    d.set("T", of.T);
    const ModelCall model(d, ActivationsAre::outputs, spec.has_probs);
    checker::Call call{.where = fmt::format("forward, {}{}", d.text("B T"), of.doubled ? ", other weights" : ""),
                       .inputs = {},
                       .outputs = {},
                       .scratch = model.scratch(),
                       .run = {}};
    for (const char* name : {"tokens", "targets"}) {
        std::vector<std::int32_t>& some = kept->integers.emplace_back();
        for (int b = of.first; b < of.first + of.B; b++) {
            std::ranges::copy(file.i32(name).subspan(static_cast<std::size_t>(b) * static_cast<std::size_t>(T),
                                                     static_cast<std::size_t>(of.T)),
                              std::back_inserter(some));
        }
        call.inputs.push_back(checker::input(name, "B T", {of.B, of.T}, some));
    }
    for (const ModelTensor& each : model.parameters()) {
        std::span<const float> values = file.f32("param/" + each.name);
        if (of.doubled && each.name.starts_with("ln_f.")) {
            std::vector<float> twice(values.begin(), values.end());
            std::ranges::transform(twice, twice.begin(), [](float value) { return 2 * value; });
            values = kept->keep(std::move(twice));
        }
        call.inputs.push_back(checker::input(each.buffer, each.dims, each.sizes, values, each.element));
    }
    const std::vector<ModelTensor> parts = model.output_activations(), wholes = whole.output_activations();
    for (std::size_t i = 0; i < parts.size(); i++) {
        const std::string& name = parts[i].name;
        const float factor = of.doubled && (name == "ln_f" || name == "logits") ? 2.0F : 1.0F;
        const Part part(wholes[i].sizes, wholes[i].dims, of);
        checker::Reference reference = file.chained(name, spec.precision);
        const auto elements = std::ssize(reference.expected.values);
        reference.expected.values = kept->keep(part.of(reference.expected.values, factor));
        reference.expected.floor = kept->keep(part.of_floors(reference.expected.floor, elements, factor));
        reference.suspects.clear();  // they are whole tensors
        checker::Output output = checker::output(parts[i].buffer, parts[i].dims, parts[i].sizes, std::move(reference));
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
    call.is_model = true;
    call.run = [=](const Library& library, const Buffers& at) {
        static_cast<void>(kept);
        const Parameters params = model.bind_parameters(at);
        Activations acts = model.bind_activations(at);
        Context& ctx = at.kept<Context>();
        call_with(acts, ctx, [&] { library.find<forward>()(acts, params, at.i32("tokens"), at.i32("targets"), ctx); });
    };
    return call;
}

}  // namespace

bool has_probs(const std::string& lesson) {
    return !checker::has_kernels(lesson) || checker::newest_solution(lesson, "loss").empty();
}

void add_model(checker::Lesson& lesson) {
    if (!checker::is_step(lesson.name())) {
        return;
    }
    const bool predicts = keeps_in_predict(lesson.name());
    checker::Op& model = lesson.model(predicts ? defines<forward, forward_scratch_bytes, predict>
                                               : defines<forward, forward_scratch_bytes>);
    const checker::CaseFile& file = lesson.case_file("regular");
    OpSpec spec = forward_spec;
    spec.precision = precision_of_step(lesson);
    spec.has_probs = has_probs(lesson.name());
    Sizes d;
    for (const auto& [name, value] : file.dims()) { d.set(name, value); }
    const int B = d["B"], T = d["T"];
    checker::Case& small = model.add_case("small", d.text("B T C NH L"));
    small.sequence = true;
    const auto add_forward = [&](const Beginnings& of, bool with_targets) {
        small.calls.push_back(forward_call(file, spec, of, with_targets));
    };
    const auto add_predict = [&](const Beginnings& of) {
        small.calls.push_back(predict_call(file, spec, of));
        small.calls.back().where =
            fmt::format("predict, {}{}", small.calls.back().where, of.doubled ? ", other weights" : "");
    };
    add_forward({.first = 0, .B = B, .T = T}, true);
    add_forward({.first = B - 1, .B = 1, .T = T - 3}, false);
    if (predicts) {
        add_predict({.first = B - 1, .B = 1, .T = T - 1});  // other tokens, and then one more
        add_predict({.first = 0, .B = 1, .T = T});
        add_predict({.first = 0, .B = 1, .T = T, .doubled = true, .in_place = true});  // the same tokens
        add_predict({.first = 0, .B = B, .T = T / 2, .doubled = true, .in_place = true});
    }
    add_forward({.first = 0, .B = B, .T = T, .doubled = true}, false);
    for (checker::Call& call : small.calls) {
        call.run = [run = std::move(call.run)](const Library& library, const Buffers& at) {
            at.kept<Context>().stream = at.stream();
            run(library, at);
        };
    }
    for (checker::Call& call : std::span(small.calls).last(2)) {
        call.where += ", another stream";
        call.on_other_stream = true;
    }
}

}  // namespace cases
