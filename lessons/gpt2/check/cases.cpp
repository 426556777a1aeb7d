// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "checker/base/course.h"
#include "checker/base/text.h"
#include "checker/program/run_lesson.h"
#include "checker/worker/device_backend.h"

namespace cases {

// Models, then ops on their own.
constexpr const char* kSharedFiles[] = {"regular", "odd", "head64", "t1", "op_c63", "op_large_scores"};

// Returns what the op is at the lesson's step.
static OpSpec at_step(OpSpec spec, const checker::Lesson& lesson) {
    spec.precision = lesson.toml().precision_of(spec.name);
    spec.has_probs = has_probs(lesson.name());
    return spec;
}

OpCases::OpCases(checker::Lesson& lesson, const OpSpec& spec)
    : lesson_(lesson), spec_(at_step(spec, lesson)), op_(lesson.op(spec.name, spec.defined)) {}

void OpCases::add_file(const std::string& file) {
    for (checker::Case& one : load_cases(lesson_.case_file(file), spec_)) { op_.cases.push_back(std::move(one)); }
}

std::vector<double> OpCases::factors(const Sizes& sizes) {
    std::vector<double> factors;
    for (const OutputSpec& output : spec_.outputs) {
        factors.push_back(lesson_.budget_factor(spec_.name + "." + output.name, precision_of(spec_, output)) *
                          floors_times(spec_, output, sizes));
    }
    return factors;
}

checker::Call OpCases::drawn(const Sizes& sizes, const std::vector<std::string>& null,
                             const std::map<std::string, Draw>& draws) {
    return drawn_call(spec_, sizes, spec_.compute != nullptr ? factors(sizes) : std::vector<double>(), null, draws);
}

checker::Case& OpCases::add_drawn(const std::string& name, std::string_view shape,
                                  const std::map<std::string, Draw>& draws) {
    const Sizes sizes = Sizes::of(shape).completed(spec_.defaults);
    checker::Case& result = op_.add_case(name, sizes.text(spec_.shape));
    result.calls.push_back(drawn(sizes, {}, draws));
    if (spec_.needed != nullptr) {
        result.calls.back().needed = spec_.needed(sizes);
    }
    return result;
}

// A tensor of the call lies on the device alone, where nobody has written it.
static void keep_on_device(checker::Call& call, const checker::BufferSpec& spec) {
    call.scratch.push_back({spec.name, [bytes = spec.bytes()](const Library&) { return bytes; }});
    call.run = [name = spec.name, element = spec.element, run = std::move(call.run)](const Library& library,
                                                                                     const Buffers& at) {
        Buffers typed = at;
        typed.add(name, element, at.scratch(name));
        run(library, typed);
    };
}

void OpCases::add_sampled(const std::string& name, std::string_view shape, const std::map<std::string, Draw>& draws) {
    const Sizes sizes = Sizes::of(shape).completed(spec_.defaults);
    checker::Call call = drawn(sizes, {}, draws);
    call.sampled =
        checker::Sampled{.output = std::move(call.outputs.back().spec),
                         .expected = [sizes, element = spec_.element, last = spec_.outputs.size() - 1](
                                         long i, const Values& inputs) { return element(sizes, last, i, inputs); },
                         .factor = factors(sizes).back()};
    call.outputs.pop_back();
    for (const checker::Output& other : call.outputs) { keep_on_device(call, other.spec); }
    call.outputs.clear();
    call.rounded = {};
    op_.add_case(name, sizes.text(spec_.shape)).calls.push_back(std::move(call));
}

void OpCases::add_by_blocks(const std::string& name, std::string_view shape, const std::map<std::string, Draw>& draws) {
    if (checker::device_backend().samples_blocks()) {
        add_sampled(name, shape, draws);
    } else {
        add_drawn(name, shape, draws);
    }
}

void OpCases::add_huge(std::string_view shape) {
    if (checker::device_backend().takes_sampled() && !checker::device_backend().dry_run()) {
        add_sampled("huge", shape);
    }
}

void OpCases::add_unwritten(std::string_view shape, const std::string& name) {
    if (!checker::device_backend().samples_blocks() || checker::device_backend().dry_run()) {
        return;
    }
    add_sampled(name, shape);
    checker::Call& call = op_.cases.back().calls.back();
    call.sampled->expected = {};
    for (const checker::Input& input : call.inputs) { keep_on_device(call, input.spec); }
    call.inputs.clear();
}

// Draws other values for a tensor.
static void draw_otherwise(checker::Input& input) {
    input.fill = [fill = std::move(input.fill)](std::span<std::byte> bytes, std::uint64_t seed) {
        fill(bytes, seed + 1);
    };
}

void ask_for_workspace_before(checker::Call& call, std::size_t bytes) {
    call.run = [bytes, run = std::move(call.run)](const Library& library, const Buffers& at) {
        at.kept<Context>().workspace(bytes);
        run(library, at);
    };
}

void OpCases::add_turns() {
    if (spec_.turns.empty()) {
        return;
    }
    const Sizes first = Sizes::of(spec_.turns);
    std::vector<Sizes> all{first};
    std::vector<std::string> names = words(spec_.shape);
    std::erase(names, "outputs");  // a number of tensors, no size of one
    for (const std::string& name : names) { all.emplace_back(first).set(name, 2.0 * first[name]); }
    for (std::size_t one = 0; one < names.size(); one++) {
        for (std::size_t other = one + 1; other < names.size(); other++) {
            Sizes& swapped = all.emplace_back(first);
            swapped.set(names[one], first[names[other]]);
            swapped.set(names[other], first[names[one]]);
        }
    }
    Sizes& ones = all.emplace_back(first);
    for (const std::string& name : names) { ones.set(name, 1); }
    std::erase_if(all, [](const Sizes& sizes) {  // heads divide the channels, and a row holds its columns
        return (sizes.has("C") && sizes.has("NH") && sizes["C"] % sizes["NH"] != 0) ||
               (sizes.has("V") && sizes["V"] > sizes["Vp"]);
    });
    all.insert(all.end(), 2, first);
    checker::Case& turns = op_.add_case("turns", fmt::format("{} and others in turn", first.text(spec_.shape)));
    turns.sequence = true;
    for (const Sizes& sizes : all) { turns.calls.push_back(drawn(sizes.completed(spec_.defaults))); }
    checker::Call &other = turns.calls[turns.calls.size() - 2], &last = turns.calls.back();
    std::ranges::for_each(other.inputs, draw_otherwise);
    other.where += ", other values at the same addresses, another stream, a larger workspace";
    other.on_other_stream = true;
    // The first call makes one: to make it larger later adds no allocation.
    ask_for_workspace_before(turns.calls.front(), 1);
    ask_for_workspace_before(other);
    last.is_warm = true;
}

checker::Case& OpCases::at(std::string_view name) {
    const auto found = std::ranges::find(op_.cases, name, &checker::Case::name);
    if (found == op_.cases.end()) {
        throw std::logic_error(fmt::format("check.cpp asks for the case {} of {}, which has none", name, spec_.name));
    }
    return *found;
}

void OpCases::add_with_threads(const std::string& name, std::string_view shape, const std::vector<int>& threads) {
    const Sizes sizes = Sizes::of(shape).completed(spec_.defaults);
    checker::Case& result =
        op_.add_case(name, fmt::format("{}, {} threads", sizes.text(spec_.shape), fmt::join(threads, " and ")));
    for (const int count : threads) {
        checker::Call& call = result.calls.emplace_back(drawn(sizes));
        call.run = run_of(spec_, sizes, count);
        call.run_on_one_thread = run_of(spec_, sizes);
        call.where += fmt::format(", {} threads", count);
    }
}

Sizes OpCases::rehearsed(const Sizes& sizes) const {
    return sizes.at_most(Sizes::of(spec_.dry_run)).completed(spec_.dry_run);
}

// Throws std::invalid_argument if a call lacks a size of the op, or has one that the op has not.
static void require_sizes(const OpSpec& spec, std::string_view call) {
    const auto names = [](std::string_view text) {
        std::vector<std::string> result;
        for (const std::string& word : words(text)) {
            if (!word.starts_with('-')) {
                result.push_back(word.substr(0, word.find('=')));
            }
        }
        return result;
    };
    const std::vector<std::string> given = names(call), needed = names(spec.shape), defaults = names(spec.defaults);
    const auto is_in = [](const std::vector<std::string>& list, const std::string& name) {
        return std::ranges::find(list, name) != list.end();
    };
    for (const std::string& name : given) {
        if (!is_in(needed, name) && !is_in(defaults, name)) {
            throw std::invalid_argument(
                fmt::format("{} has no size {}; its sizes are {}", spec.name, name, fmt::join(needed, ", ")));
        }
    }
    for (const std::string& name : needed) {
        if (!is_in(given, name) && !is_in(defaults, name)) {
            throw std::invalid_argument(fmt::format("'{}' lacks {}; the sizes of {} are {}",
                                                    fmt::join(words(call), " "), name, spec.name,
                                                    fmt::join(needed, ", ")));
        }
    }
}

void OpCases::add_call(std::string_view call, checker::Baseline against) {
    const auto [sizes, null] = CallSizes::of(call);
    require_sizes(spec_, call);
    const std::vector<double> unjudged(spec_.outputs.size());
    op_.add_case("call", std::string(call))
        .calls.push_back(drawn_call(spec_, sizes.completed(spec_.defaults), unjudged, null));
    add_timed(sizes, against, null);
}

void OpCases::add_timed(const Sizes& shape, checker::Baseline against, const std::vector<std::string>& null) {
    const Sizes sizes = shape.completed(timed_with_).completed(spec_.defaults);
    const std::string text = sizes.text(spec_.shape);
    if (std::ranges::find(op_.timed, text, &checker::Timed::shape) != op_.timed.end()) {
        return;  // in a rehearsal several are the same
    }
    const Cost cost = spec_.cost(sizes);
    const bool beside_copy =
        spec_.bound == Bound::copy || against == checker::Baseline::copy || against == checker::Baseline::read;
    const bool beside_arithmetic = spec_.bound == Bound::arithmetic || against == checker::Baseline::arithmetic;
    checker::Timed timed{.shape = text,
                         .bytes_moved = beside_copy ? static_cast<std::size_t>(cost.bytes) : 0,
                         .flop = beside_arithmetic ? cost.flop : 0,
                         .tensor_cores = spec_.precision != "fp32",
                         .call = drawn(sizes, null),
                         .warm = spec_.warm};
    for (checker::Output& output : timed.call.outputs) {
        output.compute = {};  // of all it would take longer than the op; the solution says what is right
        if (spec_.bound == Bound::arithmetic) {
            const auto found = std::ranges::find(spec_.outputs, output.spec.name, &OutputSpec::name);
            const auto i = static_cast<std::size_t>(found - spec_.outputs.begin());
            output.element = [sizes, i, element = spec_.element](long at, const Values& inputs) {
                return element(sizes, i, at, inputs);
            };
            output.factor = factors(sizes).at(i);
        }
    }
    timed.call.run = run_of(spec_, sizes);
    constexpr int kShort = 32;
    if (!spec_.summed.empty() && sizes[spec_.summed] > kShort) {
        Sizes reduced_k = sizes;
        reduced_k.set(spec_.summed, kShort);
        timed.reduced_k = drawn(reduced_k, null);
        timed.reduced_k->run = run_of(spec_, reduced_k);
    }
    timed.run_on_two_threads = run_of(spec_, sizes, 2);
    if (spec_.library != nullptr && (!checker::device_backend().is_host() || against == checker::Baseline::library)) {
        timed.library = spec_.library(sizes, spec_.precision);
    }
    op_.timed.push_back(std::move(timed));
}

OpCases& LessonCases::add(std::string_view op) {
    const OpSpec* spec = find_op(op);
    if (spec == nullptr) {
        std::vector<std::string> known;
        for (const OpSpec* one : all_ops()) { known.push_back(one->name); }
        throw checker::FileError(fmt::format("{} is of no op of lessons/gpt2/ops.def{}",
                                             lesson_.toml().where(fmt::format("target.{}", op)),
                                             checker::did_you_mean(op, known)));
    }
    OpCases& result = ops_.emplace_back(lesson_, *spec);
    std::vector<std::string> files(std::begin(kSharedFiles), std::end(kSharedFiles));
    if (const std::string own = "lesson" + checker::lesson_number(lesson_.name()); lesson_.has_case_file(own)) {
        files.push_back(own);
    }
    for (const std::string& file : files) {
        if (spec->model_calls == nullptr || lesson_.case_file(file).has_dim("L")) {
            result.add_file(file);
        }
    }
    for (const DrawnCase& one : spec->drawn_cases) {
        if (!one.by_blocks) {
            result.add_drawn(one.name, one.shape, one.draws);
        } else if (!checker::device_backend().dry_run()) {  // it would run every block
            result.add_by_blocks(one.name, one.shape, one.draws);
        }
    }
    for (const DrawnCase& one : spec->huge_cases) { result.add_unwritten(one.shape, one.name); }
    return result;
}

OpCases& LessonCases::op(std::string_view name) {
    const auto found = std::ranges::find(ops_, name, [](const OpCases& op) { return op.spec().name; });
    if (found == ops_.end()) {
        throw std::logic_error(fmt::format("check.cpp asks for the op {}, which lesson.toml does not name", name));
    }
    return *found;
}

[[gnu::weak]] void add_own(LessonCases& /*lesson*/) {}

}  // namespace cases

namespace {

// A shape as lesson.toml names it: exactly the op's sizes, in their order.
cases::Sizes timed_sizes(const checker::Lesson& lesson, const cases::OpSpec& op, const std::string& shape) {
    try {
        cases::Sizes sizes = cases::Sizes::of(shape);
        if (sizes.text(op.shape) == shape) {
            return sizes;
        }
    } catch (const std::invalid_argument&) {  // said below
    }
    throw checker::FileError(fmt::format("{} names the shape \"{}\"; those of {} are \"{}=…\"",
                                         lesson.toml().where("target." + op.name), shape, op.name,
                                         fmt::join(cases::words(op.shape), "=… ")));
}

// A precision is that of an op that the lesson checks, or of the whole model, whose steps the lesson serves.
void require_precisions_judged(const checker::Lesson& lesson) {
    std::vector<std::string> known = lesson.toml().ops;
    known.push_back(cases::forward_spec.name);
    for (const auto& [op, precision] : lesson.toml().precision) {
        if (std::ranges::find(known, op) == known.end()) {
            throw checker::FileError(fmt::format("{} is of no op of the lesson{}",
                                                 lesson.toml().where("precision." + op),
                                                 checker::did_you_mean(op, known)));
        }
    }
}

}  // namespace

void checker::register_cases(Lesson& lesson) {
    require_precisions_judged(lesson);
    lesson.declared_in("lessons/gpt2/ops.h");
    cases::LessonCases all(lesson);
    for (const std::string& op : lesson.toml().ops) { all.add(op); }
    cases::add_own(all);
    for (const std::string& op : lesson.toml().ops) {
        all.op(op).add_turns();
        add_misaligned_if_none(all.op(op));
    }
    cases::add_model(lesson);
    // SOL_CALL="attention B=4 T=1024 C=768 NH=12": what make waterfall counts, and a GPU's report times, in place of shapes.
    const char* const said = std::getenv("SOL_CALL");
    const std::string call = said == nullptr ? "" : said;
    for (const auto& [name, target] : lesson.toml().targets) {
        cases::OpCases& op = all.op(name);
        if (call.starts_with(name + ' ')) {
            op.add_call(call.substr(name.size() + 1), target.against);
            continue;
        }
        std::vector<std::string> shapes = target.shapes;
        shapes.insert(shapes.end(), target.reported.begin(), target.reported.end());
        for (const std::string& shape : shapes) {
            const cases::Sizes sizes = timed_sizes(lesson, op.spec(), shape);
            op.add_timed(checker::device_backend().dry_run() ? op.rehearsed(sizes) : sizes, target.against);
        }
    }
}
