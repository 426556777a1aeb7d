// SPDX-License-Identifier: MIT
//
// What the checker knows of the ops: their cases from the calls in case files, their shapes, their costs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "checker/cases/lesson_toml.h"
#include "checker/judge/compare.h"
#include "checker/judge/describe.h"
#include "checker/program/run_lesson.h"
#include "lessons/gpt2/check/cases.h"
#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/tests/support.h"

using cases::Sizes;
using nlohmann::json;

namespace {

// A case file with one layernorm of B=1 T=2 C=3 and these calls.
class CallsInACaseFile : public testing::Test {
  protected:
    json call() const {
        return {{"op", "layernorm"},
                {"case", "tiny"},
                {"where", "ln"},
                {"dims", {{"B", 1}, {"T", 2}, {"C", 3}}},
                {"args", {{"inp", "x"}, {"weight", "w"}, {"bias", "b"}}},
                {"results", {{"out", "ln"}, {"mean", "ln_mean"}, {"rstd", "ln_rstd"}}}};
    }

    std::vector<checker::Case> load(const json& calls) {
        return load(json{{"config", "{}"}, {"case", "tiny"}, {"calls", calls.dump()}}, 0);
    }
    std::vector<checker::Case> load(const json& metadata, int /*whole*/) {
        write(metadata);
        return cases::load_cases(*file_, cases::layernorm_spec);
    }
    // Returns calls of one sequence, of a layernorm whose output is in-out: a later call goes on from the one before it.
    json sequence(int calls) const {
        json result = json::array();
        for (int i = 0; i < calls; i++) {
            json one = call();
            one["sequence"] = "steps";
            one["args"]["out"] = i == 0 ? "x" : "local/ln";
            result.push_back(one);
        }
        return result;
    }
    std::vector<checker::Case> load_sequence(const json& calls) {
        write(json{{"config", "{}"}, {"case", "tiny"}, {"calls", calls.dump()}});
        cases::OpSpec spec = cases::layernorm_spec;
        spec.precision = "tf32";
        spec.inputs.front().factor = true;
        std::ranges::find(spec.outputs, "out", &cases::OutputSpec::name)->before = cases::normal();
        for (cases::OutputSpec& output : spec.outputs) { output.precision = "fp32"; }
        return cases::load_cases(*file_, spec);
    }
    // Returns what a layernorm reads as `parameter`, its input or, changed in place, its output, where it takes other
    // elements than floats there and the file stores it as these bytes.
    checker::Input load_stored(std::string_view dtype, std::span<const std::byte> content, checker::Element takes,
                               const std::string& parameter) {
        json one = call();
        one["args"][parameter] = "stored";
        write(json{{"config", "{}"}, {"case", "tiny"}, {"calls", json::array({one}).dump()}}, dtype, content);
        cases::OpSpec spec = cases::layernorm_spec;
        if (parameter == "inp") {
            std::ranges::find(spec.inputs, parameter, &cases::InputSpec::name)->element = takes;
            return cases::load_cases(*file_, spec).at(0).calls.at(0).inputs.at(0);
        }
        cases::OutputSpec& output = *std::ranges::find(spec.outputs, parameter, &cases::OutputSpec::name);
        output.element = takes;
        output.before = cases::normal(1.0F, takes);
        const std::vector<checker::Output> outputs = cases::load_cases(*file_, spec).at(0).calls.at(0).outputs;
        const auto made =
            std::ranges::find(outputs, parameter, [](const checker::Output& each) { return each.spec.name; });
        return {made->spec, made->initial};
    }
    // Writes the file and opens it. All tensors but `stored`, of 6 elements, are floats of 0.
    void write(const json& metadata, std::string_view dtype = "F32",
               std::span<const std::byte> stored = std::as_bytes(std::span(kZeros))) {
        const std::vector<std::pair<std::string, std::vector<long>>> tensors{{"x", {1, 2, 3}},
                                                                             {"w", {3}},
                                                                             {"b", {3}},
                                                                             {"local/ln", {1, 2, 3}},
                                                                             {"floor/ln", {1, 2}},
                                                                             {"local/ln_mean", {1, 2}},
                                                                             {"floor/ln_mean", {1}},
                                                                             {"local/ln_rstd", {1, 2}},
                                                                             {"floor/ln_rstd", {1}},
                                                                             {"local/short", {1, 1, 3}},
                                                                             {"floor/short", {1, 1}},
                                                                             {"local/short_mean", {1, 1}},
                                                                             {"floor/short_mean", {1}}};
        json header{{"__metadata__", metadata}};
        long end = 0;
        const auto add = [&](const std::string& name, std::string_view elements, const std::vector<long>& shape,
                             long bytes) {
            header[name] = {{"dtype", elements}, {"shape", shape}, {"data_offsets", {end, end + bytes}}};
            end += bytes;
        };
        for (const auto& [name, shape] : tensors) {
            long bytes = sizeof(float);
            for (const long length : shape) { bytes *= length; }
            add(name, "F32", shape, bytes);
        }
        std::string data(static_cast<std::size_t>(end), '\0');
        add("stored", dtype, {1, 2, 3}, std::ssize(stored));
        data.append(reinterpret_cast<const char*>(stored.data()), stored.size());
        std::string text = header.dump();
        text.resize((text.size() + 7) / 8 * 8, ' ');  // the data are floats
        write_text(folder_ / "tiny.safetensors", safetensors_bytes(text, data));
        file_ = std::make_unique<checker::CaseFile>(folder_ / "tiny.safetensors", budgets_);
    }
    std::string refusal(const json& calls) {
        std::string message = message_of([&] { load(calls); });
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        EXPECT_NE(message.find("tiny.safetensors"), std::string::npos) << message;
        return message;
    }

    static constexpr std::array<float, 6> kZeros{};
    TemporaryFolder folder_;
    checker::Budgets budgets_ = checker::Budgets::read("reference/cases/budgets.json");
    std::unique_ptr<checker::CaseFile> file_;
};

std::vector<std::string> names_of(const std::deque<checker::Case>& all) {
    std::vector<std::string> names;
    for (const checker::Case& one : all) { names.push_back(one.name); }
    return names;
}

}  // namespace

// ---- sizes -----------------------------------------------------------------------------------------------------------

TEST(Sizes, AreReadFromAShapeAndWrittenInTheOrderAskedFor) {
    const Sizes sizes = Sizes::of("B=4 T=1024  C=768");
    EXPECT_EQ(sizes["T"], 1024);
    EXPECT_EQ(sizes.text("C B"), "C=768 B=4");
    EXPECT_EQ(sizes.axes("B T 3C/c"), (std::vector<long>{4, 1024, 2304}));
    EXPECT_FALSE(sizes.has_axes("B NH/h T"));
    EXPECT_NE(message_of([&] { static_cast<void>(sizes["OC"]); }).find("no OC among the sizes B, C, T"),
              std::string::npos);
}

TEST(Sizes, ThatAreNoSizesAreRefusedByName) {
    for (const char* word : {"N", "N=", "=4", "N=0", "N=-1", "N=4.5", "N=4x", "N=99999999999"}) {
        EXPECT_NE(message_of([&] { Sizes::of(word); }).find(std::string(word) + " is no size"), std::string::npos)
            << word;
    }
    EXPECT_NE(message_of([] { Sizes::of("N=1 N=2"); }).find("has N twice"), std::string::npos);
}

TEST(CallSizes, TellNullParametersFromSizes) {
    const cases::CallSizes call = cases::CallSizes::of("N=4096 -bias C=768  -out");
    EXPECT_EQ(call.sizes.text("N C"), "N=4096 C=768");
    EXPECT_EQ(call.null, (std::vector<std::string>{"bias", "out"}));
    EXPECT_NE(message_of([] { cases::CallSizes::of("N=1 -bias -bias"); }).find("has -bias twice"), std::string::npos);
    EXPECT_NE(message_of([] { cases::CallSizes::of("N=1 -"); }).find("- is no size"), std::string::npos);
    EXPECT_NE(message_of([] { cases::CallSizes::of("N=1 bias"); }).find("bias is no size"), std::string::npos);
}

TEST(Sizes, AreCompletedByNumbersAndByEachOther) {
    const Sizes sizes = Sizes::of("N=4 OC=6").completed("out_stride=OC scale=0.125 N=9");
    EXPECT_EQ(sizes["out_stride"], 6);
    EXPECT_EQ(sizes.number("scale"), 0.125);
    EXPECT_EQ(sizes["N"], 4);
}

// ---- calls in case files ---------------------------------------------------------------------------------------------

TEST_F(CallsInACaseFile, BecomeCases) {
    json second = call();
    second["where"] = "other";
    json another = call();
    another["case"] = "another";
    const std::vector<checker::Case> loaded = load(json::array({call(), second, another}));
    ASSERT_EQ(loaded.size(), 2U);
    EXPECT_EQ(loaded[0].name, "tiny");
    EXPECT_EQ(loaded[0].shape, "B=1 T=2 C=3");
    ASSERT_EQ(loaded[0].calls.size(), 2U);
    EXPECT_EQ(loaded[0].calls[1].where, "other");
    const checker::Call& first = loaded[0].calls[0];
    ASSERT_EQ(first.inputs.size(), 3U);
    EXPECT_EQ(first.inputs[0].spec.dims.text(), "B=1, T=2, C=3");
    ASSERT_EQ(first.outputs.size(), 3U);
    EXPECT_EQ(first.outputs[0].spec.name, "mean") << "where a learner should look first";
    EXPECT_EQ(loaded[1].name, "another");
}

TEST_F(CallsInACaseFile, OfOtherOpsAreNoCases) {
    EXPECT_TRUE(load(json::array()).empty());
}

TEST_F(CallsInACaseFile, MayNameTheAxesOtherwiseThanTheOp) {
    json one = call();
    one["index"] = {{"inp", "b/i rows/r cols/c"}};
    EXPECT_EQ(load(json::array({one}))[0].calls[0].inputs[0].spec.dims.index_text(5), "i=0, r=1, c=2");
}

TEST_F(CallsInACaseFile, ThatAreMissingOrNoArrayAreRefused) {
    EXPECT_NE(message_of([&] {
                  load(json{{"config", "{}"}, {"case", "tiny"}}, 0);
              }).find("have no calls; 'make reference'"),
              std::string::npos);
    EXPECT_NE(refusal("text").find("no JSON array"), std::string::npos);
    EXPECT_NE(message_of([&] {
                  load(json{{"config", "{}"}, {"calls", "[{"}}, 0);
              }).find("no JSON array"),
              std::string::npos);
}

TEST_F(CallsInACaseFile, OfAnUnknownOpAreRefusedThoughAnotherIsAskedFor) {
    json other = call();
    other["op"] = "layernrm";
    const std::string message = refusal(json::array({call(), other}));
    EXPECT_NE(message.find("call 1 in its metadata (layernrm) is of an op that lessons/gpt2/ops.def does not list"),
              std::string::npos)
        << message;
}

TEST_F(CallsInACaseFile, WithoutAnArgumentOrWithOneTooManyAreRefused) {
    json without = call();
    without["args"].erase("bias");
    EXPECT_NE(refusal(json::array({without})).find("has no bias"), std::string::npos);
    json more = call();
    more["args"]["beta"] = "b";
    EXPECT_NE(refusal(json::array({more})).find("names beta, which is no tensor of the op; it has inp, weight, bias"),
              std::string::npos);
    json without_results = call();
    without_results.erase("results");
    EXPECT_NE(refusal(json::array({without_results})).find("results"), std::string::npos);
    json number = call();
    number["args"]["bias"] = 7;
    EXPECT_NE(refusal(json::array({number})).find("type must be string"), std::string::npos);
}

TEST_F(CallsInACaseFile, WhoseTensorIsMissingOrHasAnotherShapeAreRefused) {
    json missing = call();
    missing["args"]["inp"] = "y";
    EXPECT_NE(refusal(json::array({missing})).find("has no tensor \"y\""), std::string::npos);
    json small = call();
    small["args"]["inp"] = "w";
    EXPECT_NE(refusal(json::array({small})).find("tensor \"w\" is (3), but ln asks for 6 elements (B T C) as inp"),
              std::string::npos);
    json result = call();
    result["results"]["out"] = "ln_mean";
    EXPECT_NE(refusal(json::array({result})).find("asks for 6 elements (B T C) as out"), std::string::npos);
}

TEST_F(CallsInACaseFile, WithANullArgumentHaveOneInputLess) {
    json null = call();
    null["args"]["bias"] = nullptr;
    const checker::Call loaded = load(json::array({null}))[0].calls[0];
    EXPECT_EQ(loaded.inputs.size(), 2U);
    EXPECT_EQ(loaded.null, std::vector<std::string>{"bias"});
}

TEST_F(CallsInACaseFile, HandsTensorsOnInTheOpsElement) {
    const std::vector<float> values{1, -2, 0.1F, 3e38F, 0, 7};
    const std::vector<std::byte> in_bf16 = checker::encode(values, checker::Element::bf16);
    for (const char* parameter : {"inp", "out"}) {
        for (const auto& [dtype, stored] :
             {std::pair("BF16", std::span(in_bf16)), std::pair("F32", std::as_bytes(std::span(values)))}) {
            const checker::Input read = load_stored(dtype, stored, checker::Element::bf16, parameter);
            EXPECT_EQ(read.spec.element, checker::Element::bf16) << parameter << " of " << dtype;
            std::vector<std::byte> content(in_bf16.size());
            ASSERT_EQ(read.spec.bytes(), content.size()) << parameter << " of " << dtype;
            read.fill(content, 1);
            EXPECT_EQ(content, in_bf16) << parameter << " of " << dtype;
        }
    }
}

TEST_F(CallsInACaseFile, RefusesElementsThatTheOpDoesNotTake) {
    using enum checker::Element;
    struct Mismatch {
        const char* dtype;
        std::size_t bytes;
        checker::Element takes;
    };
    for (const auto& [dtype, bytes, takes] :
         {Mismatch{"BF16", 2, f32}, Mismatch{"I32", 4, f32}, Mismatch{"F32", 4, i32}, Mismatch{"F16", 2, bf16},
          Mismatch{"F64", 8, f32}}) {
        for (const char* parameter : {"inp", "out"}) {
            const std::vector<std::byte> zeros(6 * bytes);
            const std::string said = message_of([&] { load_stored(dtype, zeros, takes, parameter); });
            EXPECT_TRUE(said.ends_with(fmt::format(
                "tiny.safetensors: tensor \"stored\" is {}, but ln takes {} as {}; 'make reference' writes it", dtype,
                checker::name_of(takes), parameter)))
                << said;
        }
    }
}

TEST_F(CallsInACaseFile, FormOneCaseOfASequence) {
    const std::vector<checker::Case> loaded = load_sequence(sequence(3));
    ASSERT_EQ(loaded.size(), 1U);
    EXPECT_TRUE(loaded[0].sequence);
    EXPECT_EQ(loaded[0].shape, "B=1 T=2 C=3, steps");
    ASSERT_EQ(loaded[0].calls.size(), 3U);
    for (std::size_t i = 0; i < loaded[0].calls.size(); i++) {
        const checker::Output& out = loaded[0].calls[i].outputs.back();
        EXPECT_EQ(out.spec.name, "out");
        EXPECT_EQ(out.spec.role, checker::Role::inout);
        EXPECT_EQ(out.initial == nullptr, i > 0) << "call " << i << " has a content of its own";
        EXPECT_FALSE(out.expected.values.empty()) << i;
        EXPECT_EQ(loaded[0].calls[i].rounded == nullptr, i > 0) << "call " << i << " would compute from unknown state";
    }
    EXPECT_FALSE(load(json::array({call(), call()}))[0].sequence);
}

TEST_F(CallsInACaseFile, SetAnInOutTensorAnewWithinASequence) {
    json calls = sequence(2);
    calls[1]["args"]["out"] = "x";
    EXPECT_TRUE(load_sequence(calls)[0].calls[1].outputs.back().initial);
}

TEST_F(CallsInACaseFile, RefusesSequencesThatAreNone) {
    EXPECT_NE(
        refusal(sequence(1))
            .find(
                "call 0 in its metadata (layernorm) is the only one of its sequence \"steps\", which has two or more"),
        std::string::npos);
    json ops = sequence(2);
    ops[1]["op"] = "residual";
    ops[1]["dims"] = {{"N", 6}};
    ops[1]["args"] = {{"inp1", "x"}, {"inp2", "x"}};
    ops[1]["results"] = {{"out", "ln"}};
    EXPECT_NE(refusal(ops).find("call 1 in its metadata (residual) is of another op than the sequence \"steps\" before "
                                "it, layernorm"),
              std::string::npos);
    json mixed = sequence(2);
    mixed.push_back(call());
    EXPECT_NE(
        refusal(mixed).find(
            "call 2 in its metadata (layernorm) is of the case tiny, in which other calls are a sequence; give the "
            "sequence a case of its own"),
        std::string::npos);
    json apart = sequence(2);
    apart.insert(apart.begin() + 1, call());
    EXPECT_NE(refusal(apart).find("call 1 in its metadata (layernorm) is of the case tiny, in which other calls"),
              std::string::npos);
}

TEST_F(CallsInACaseFile, RefusesStateThatNoCallBeforeLeft) {
    json lacks = sequence(2);
    lacks[1]["args"]["out"] = nullptr;
    EXPECT_NE(refusal(lacks).find("call 1 in its metadata (layernorm) has no out, which the call before it left"),
              std::string::npos);
    json other = sequence(2);
    other[1]["args"]["out"] = "local/ln_mean";
    EXPECT_NE(refusal(other).find("goes on from local/ln_mean as out, but the call before it left local/ln"),
              std::string::npos);
}

TEST_F(CallsInACaseFile, RefusesTensorsThatChangeTheirShapeInASequence) {
    json calls = sequence(2);
    calls[1]["where"] = "ln 2";
    calls[1]["dims"]["T"] = 1;
    calls[1]["args"]["inp"] = calls[1]["args"]["out"] = "w";
    calls[1]["results"] = {{"out", "short"}, {"mean", "short_mean"}, {"rstd", "short_mean"}};
    const std::string said = message_of([&] { load_sequence(calls); });
    EXPECT_TRUE(
        said.ends_with("tiny.safetensors: inp is (B=1, T=1, C=3) in ln 2, but (B=1, T=2, C=3) in an earlier call "
                       "of the sequence \"steps\"; 'make reference' writes it"))
        << said;
}

// ---- every op --------------------------------------------------------------------------------------------------------

class EveryOp : public testing::TestWithParam<const cases::OpSpec*> {};
INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(cases::all_ops().begin(), cases::all_ops().end()),
                         [](const auto& op) { return op.param->name; });

// The case files, by name, that have calls of an op.
std::vector<std::string> files_with(const cases::OpSpec& spec, checker::Lesson& lesson) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("reference/cases")) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() == ".safetensors" && !cases::calls_of(lesson.case_file(name), spec).empty()) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names);
    return names;
}

// An op that came after the model's has those of the lesson that brought it.
TEST_P(EveryOp, HasCasesFromTheModelsOrItsLessonAndFromNothingTwice) {
    checker::Lesson files("00_test", "reference");
    const std::vector<std::string> with = files_with(*GetParam(), files);
    const bool of_models = GetParam()->model_calls != nullptr || std::ranges::find(with, "regular") != with.end();
    ASSERT_TRUE(of_models || (!with.empty() && with.front().starts_with("lesson")));
    checker::Lesson lesson((of_models ? "00" : with.front().substr(6)) + "_test", "reference");
    cases::LessonCases all(lesson);
    all.add(GetParam()->name);
    const std::vector<std::string> names = names_of(lesson.ops().front().cases);
    if (of_models) {
        ASSERT_GE(names.size(), 4U);
        EXPECT_EQ(std::vector(names.begin(), names.begin() + 4),
                  (std::vector<std::string>{"regular", "odd", "head64", "t1"}));
    }
    EXPECT_FALSE(names.empty());
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
    for (const checker::Case& one : lesson.ops().front().cases) {
        EXPECT_FALSE(one.shape.empty());
        for (const checker::Call& call : one.calls) {
            EXPECT_FALSE(call.outputs.empty()) << one.name << " " << call.where;
            EXPECT_TRUE(call.run) << one.name << " " << call.where;
            EXPECT_EQ(call.is_model, GetParam()->name == "forward") << one.name << " " << call.where;
        }
    }
}

TEST_P(EveryOp, CostsMoreAtALargerShape) {
    const Sizes small = Sizes::of(GetParam()->dry_run).completed(GetParam()->defaults);
    Sizes large = small;
    for (const std::string& name : cases::words(GetParam()->shape)) { large.set(name, 4 * small.number(name)); }
    EXPECT_GT(GetParam()->cost(small).flop, 0);
    EXPECT_GT(GetParam()->cost(large).flop, GetParam()->cost(small).flop);
    EXPECT_GE(GetParam()->cost(large).bytes, GetParam()->cost(small).bytes);
}

bool is_left_by_earlier_calls(const checker::Output& output) {
    return output.spec.role == checker::Role::inout && !output.initial;
}

// Returns what a call reads: its inputs, then what its in-out tensors hold before.
std::vector<checker::Decoded> read_by(const checker::Call& call) {
    std::vector<checker::Decoded> read;
    const auto add = [&](const checker::BufferSpec& spec, const checker::FillFunction& fill) {
        std::vector<std::byte> bytes(spec.bytes());
        fill(bytes, 1);
        read.push_back(checker::decode(bytes, spec.element));
    };
    for (const checker::Input& input : call.inputs) { add(input.spec, input.fill); }
    for (const checker::Output& output : call.outputs) {
        if (output.spec.role == checker::Role::inout) {
            add(output.spec, output.initial);
        }
    }
    return read;
}

// What is computed for drawn inputs is what the dump computed, on every case file's inputs: values and floors.
TEST_P(EveryOp, IsComputedAsTheDumpComputesIt) {
    const cases::OpSpec& spec = *GetParam();
    if (spec.model_calls != nullptr) {
        EXPECT_EQ(spec.compute, nullptr);
        return;
    }
    ASSERT_NE(spec.compute, nullptr);
    checker::Lesson lesson("00_test", "reference");
    std::size_t compared = 0;
    for (const std::string& name : files_with(spec, lesson)) {
        const checker::CaseFile& file = lesson.case_file(name);
        const std::vector<checker::Case> loaded = cases::load_cases(file, spec);
        std::vector<checker::Call> calls;
        for (const checker::Case& one : loaded) { calls.insert(calls.end(), one.calls.begin(), one.calls.end()); }
        const std::vector<cases::FileCall> sizes = cases::calls_of(file, spec);
        ASSERT_EQ(calls.size(), sizes.size());
        for (std::size_t c = 0; c < calls.size(); c++) {
            if (std::ranges::any_of(calls[c].outputs, is_left_by_earlier_calls)) {
                continue;  // an implementation decides what it reads
            }
            const std::vector<checker::Decoded> read = read_by(calls[c]);
            cases::Values values;
            for (const checker::Decoded& one : read) { values.emplace_back(one.values); }
            const std::vector<checker::Computed> computed =
                spec.compute(sizes[c].sizes.completed(spec.defaults), values);
            ASSERT_EQ(computed.size(), spec.outputs.size());
            for (std::size_t o = 0; o < computed.size(); o++) {
                const auto written = std::ranges::find(calls[c].outputs, spec.outputs[o].name,
                                                       [](const auto& output) { return output.spec.name; });
                if (written == calls[c].outputs.end()) {
                    continue;  // null in this call
                }
                compared++;
                const checker::Output& output = *written;
                const std::string where = fmt::format("{} {} {}", name, calls[c].where, output.spec.name);
                const auto row = static_cast<std::size_t>(output.spec.dims.columns());
                const auto largest = [](std::span<const float> floor) { return *std::ranges::max_element(floor); };
                const float near_zero = 1e-6F * largest(output.expected.floor);  // where float64 itself has cancelled
                ASSERT_EQ(computed[o].values.size(), output.expected.values.size()) << where;
                for (std::size_t i = 0; i < computed[o].values.size(); i++) {
                    if (static_cast<long>(i % row) < output.columns) {
                        const float expected = output.expected.values[i];
                        ASSERT_NEAR(computed[o].values[i], expected, 2e-7F * std::abs(expected) + near_zero)
                            << where << "[" << i << "]";
                    }
                }
                // A row's floor is the largest of its elements'; of one row where the case file has several, of them all.
                ASSERT_NEAR(largest(computed[o].floor), largest(output.expected.floor),
                            1e-4F * largest(output.expected.floor))
                    << where;
                if (computed[o].floor.size() == output.expected.floor.size()) {
                    for (std::size_t i = 0; i < computed[o].floor.size(); i++) {
                        ASSERT_NEAR(computed[o].floor[i], output.expected.floor[i], 1e-4F * output.expected.floor[i])
                            << where << " floor of row " << i;
                    }
                }
            }
        }
    }
    EXPECT_GE(compared, 2U);
}

// A mask may be made of scores of minus infinity: they are exact, and the row's error is that of the others.
TEST(CausalSoftmax, HasBudgetsForScoresOfMinusInfinity) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::vector<float> masked{3, 0, 0, 0, -kInfinity, 1, 0, 0, 2, -kInfinity, -3, 0, 1, 2, 3, -kInfinity};
    const Sizes sizes{{"B", 1}, {"NH", 1}, {"T", 4}, {"scale", 0.5}};
    const std::vector<checker::Computed> computed = cases::find_op("causal_softmax")->compute(sizes, {masked});
    const auto [lse, att] = std::pair(computed[0], computed[1]);
    EXPECT_FLOAT_EQ(lse.values[1], 0.5F);
    EXPECT_FLOAT_EQ(lse.values[2], std::log(std::exp(1.0F) + std::exp(-1.5F)));
    EXPECT_EQ(att.values[4], 0);
    EXPECT_EQ(att.values[15], 0);
    for (const checker::Computed& output : computed) {
        for (const float floor : output.floor) { EXPECT_TRUE(floor > 0 && floor < 1e-6F) << floor; }
    }
}

TEST(Costs, CountTheRowsOfTheVocabularyThatAreReadOnceEach) {
    const auto bytes = [](const char* shape) { return cases::find_op("encoder")->cost(Sizes::of(shape)).bytes; };
    // A vocabulary of one row: tokens, positions, that row, outputs.
    EXPECT_EQ(bytes("B=2 T=4 C=8 Vp=1"), 4 * (8 + 4 * 8 + 8 + 2 * 4 * 8));
    // Of a large one nearly every token has a row of its own.
    EXPECT_NEAR(bytes("B=2 T=4 C=8 Vp=1000000"), 4 * (8 + 4 * 8 + 2 * 2 * 4 * 8), 4 * 8);
}

TEST(Costs, LeaveThePaddingOfTheVocabularyAlone) {
    const auto bytes = [](const char* shape) { return cases::find_op("softmax")->cost(Sizes::of(shape)).bytes; };
    EXPECT_EQ(bytes("N=2 V=10 Vp=128"), 4 * 2 * 2 * 10);
}

// An op that arithmetic bounds is timed at shapes of which nobody computes all.
TEST_P(EveryOp, ThatArithmeticBoundsSaysOfASingleElementWhatItSaysOfAll) {
    const cases::OpSpec& spec = *GetParam();
    if (spec.element == nullptr) {
        EXPECT_NE(spec.bound, cases::Bound::arithmetic);
        return;
    }
    const cases::Sizes sizes = cases::Sizes::of(spec.dry_run).completed(spec.defaults);
    std::vector<checker::Decoded> read;
    for (const cases::InputSpec& input : spec.inputs) {
        const checker::Input one = input.draw(input.name, input.dims, sizes);
        std::vector<std::byte> bytes(one.spec.bytes());
        one.fill(bytes, 1);
        read.push_back(checker::decode(bytes, one.spec.element));
    }
    cases::Values values;
    for (const checker::Decoded& one : read) { values.emplace_back(one.values); }
    const std::vector<checker::Computed> all = spec.compute(sizes, values);
    for (std::size_t output = 0; output < all.size(); output++) {
        const auto count = static_cast<long>(all[output].values.size());
        const long row = count / static_cast<long>(all[output].floor.size());
        const std::string& columns = spec.outputs[output].columns;
        double largest = 0;  // floor of the first row
        for (long i = 0; i < count; i++) {
            if (!columns.empty() && i % row >= sizes[columns]) {
                continue;  // padding
            }
            const auto [value, floor] = spec.element(sizes, output, i, values);
            const double expected = all[output].values[static_cast<std::size_t>(i)];
            ASSERT_NEAR(value, expected, 1e-6 * std::abs(expected) + 1e-9) << spec.outputs[output].name << i;
            largest = i < row ? std::max(largest, floor) : largest;
        }
        EXPECT_NEAR(largest, all[output].floor.front(), 1e-5 * largest);
    }
}

// ---- lessons ---------------------------------------------------------------------------------------------------------

TEST(LessonCases, AreTimedAtTheShapesOfLessonToml) {
    checker::LessonToml toml;
    toml.ops = {"matmul"};
    checker::Target& target = toml.targets["matmul"];
    target.against = checker::Baseline::library;
    target.shapes = {"N=8 C=4 OC=6"};
    target.reported = {"N=9 C=5 OC=7"};
    checker::Lesson lesson("00_test", "reference", toml);
    checker::register_cases(lesson);
    const std::vector<checker::Timed>& timed = lesson.ops().front().timed;
    ASSERT_EQ(timed.size(), 2U);
    EXPECT_EQ(timed[0].shape, "N=8 C=4 OC=6");
    EXPECT_EQ(timed[0].flop, 2 * 8 * 4 * 6);
    ASSERT_TRUE(timed[0].library);
    EXPECT_EQ(timed[0].library->name, "OpenBLAS");
    EXPECT_EQ(timed[1].shape, "N=9 C=5 OC=7");
    for (const checker::Output& output : timed[0].call.outputs) {
        EXPECT_FALSE(output.compute) << "all of it may take minutes";
        EXPECT_TRUE(output.element);
        EXPECT_GT(output.factor, 0);
    }
}

TEST(LessonCases, CountFlopOfAnOpThatIsHeldToTheRoofOfFp32) {
    checker::LessonToml toml;
    toml.ops = {"attention"};
    checker::Target& target = toml.targets["attention"];
    target.shapes = {"B=2 T=8 C=12 NH=3"};
    const auto timed = [&] {
        checker::Lesson lesson("00_test", "reference", toml);
        checker::register_cases(lesson);
        return lesson.ops().front().timed.front().flop;
    };
    EXPECT_EQ(timed(), 0);
    target.against = checker::Baseline::arithmetic;
    EXPECT_EQ(timed(), 2 * 2 * 8 * (8 + 1) * 12);  // two products of which half is masked
}

TEST(LessonCases, OfAnUnknownOpOrAShapeOfAnotherFormAreRefused) {
    const auto refusal = [](const std::string& op, const std::string& shape) {
        checker::LessonToml toml;
        toml.file = "lesson.toml";
        toml.ops = {op};
        toml.targets[op].shapes = {shape};
        checker::Lesson lesson("00_test", "reference", toml);
        return message_of([&] { checker::register_cases(lesson); });
    };
    EXPECT_EQ(refusal("gleu", "N=8"),
              "lesson.toml: [target.gleu] is of no op of lessons/gpt2/ops.def; did you mean gelu?");
    for (const char* shape : {"N=8", "N=8 C=4 OC=6 K=2", "C=4 N=8 OC=6", "N=8, C=4, OC=6", ""}) {
        EXPECT_NE(refusal("matmul", shape)
                      .find(fmt::format("names the shape \"{}\"; those of matmul are \"N=… C=… OC=…\"", shape)),
                  std::string::npos)
            << refusal("matmul", shape);
    }
}

// The cases of ops in a precision.
class LessonInTf32 : public testing::Test {
  protected:
    static checker::LessonToml toml(const std::vector<std::string>& ops) {
        checker::LessonToml toml;
        toml.file = "lesson.toml";
        toml.ops = ops;
        for (const std::string& op : ops) { toml.targets[op] = {}; }
        return toml;
    }
    void add(checker::LessonToml toml, const std::string& name = "00_test") {
        lesson_ = std::make_unique<checker::Lesson>(name, "reference", std::move(toml));
        checker::register_cases(*lesson_);
    }
    const checker::Op& op(const std::string& name) const {
        return *std::ranges::find(lesson_->ops(), name, &checker::Op::name);
    }
    const checker::Call& first_call(const std::string& name, const std::string& case_name) const {
        return std::ranges::find(op(name).cases, case_name, &checker::Case::name)->calls.front();
    }
    static double factor_of(const checker::Output& output, const checker::Call& call) {
        if (!output.compute) {
            return output.expected.factor;
        }
        std::vector<std::vector<float>> values;
        for (const checker::Input& input : call.inputs) {
            std::vector<float> filled(input.spec.bytes() / sizeof(float));
            input.fill(std::as_writable_bytes(std::span(filled)), 1);
            values.push_back(std::move(filled));
        }
        return output.compute({values.begin(), values.end()}).factor;
    }

    std::unique_ptr<checker::Lesson> lesson_;
};

TEST_F(LessonInTf32, JudgesAllThatTheOpGivesWithTheBudgetOfTf32) {
    checker::LessonToml tf32 = toml({"matmul", "attention", "layernorm"});
    tf32.precision = {{"matmul", "tf32"}, {"attention", "tf32"}};
    add(tf32);
    const checker::Budgets budgets = checker::Budgets::read("reference/cases/budgets.json");
    for (const auto& [op, of_case] : {std::pair("matmul", "regular"), std::pair("matmul", "odd_stride"),
                                      std::pair("attention", "regular"), std::pair("layernorm", "regular")}) {
        const std::string precision = std::string_view(op) == "layernorm" ? "fp32" : "tf32";
        const checker::Call& call = first_call(op, of_case);
        for (const checker::Output& output : call.outputs) {
            EXPECT_EQ(output.precision, precision) << op;
            const double terms =
                std::string_view(op) == "matmul" ? static_cast<double>(call.inputs[0].spec.dims.columns()) : 1;
            EXPECT_DOUBLE_EQ(factor_of(output, call),
                             budgets.local(fmt::format("{}.{}", op, output.spec.name), precision) / std::sqrt(terms))
                << op << " " << of_case << " " << output.spec.name;
        }
    }
}

TEST_F(LessonInTf32, IsTimedWithoutTheRoofThatTensorCoresExceed) {
    for (const std::string precision : {"fp32", "tf32"}) {
        checker::LessonToml of = toml({"matmul"});
        of.targets["matmul"].reported = {"N=8 C=8 OC=8"};
        of.precision = {{"matmul", precision}};
        add(of);
        EXPECT_EQ(op("matmul").timed.front().tensor_cores, precision == "tf32");
        EXPECT_GT(op("matmul").timed.front().flop, 0);
    }
}

TEST_F(LessonInTf32, JudgesEachTensorOfAModelByTheErrorOfAModelInTf32) {
    checker::LessonToml tf32 = toml({"forward"});
    tf32.targets["forward"].reported = {"B=1 T=8 C=48 NH=3 L=1"};
    tf32.precision = {{"forward", "tf32"}};
    add(tf32);
    const checker::Budgets budgets = checker::Budgets::read("reference/cases/budgets.json");
    for (const checker::Output& output : first_call("forward", "regular").outputs) {
        EXPECT_EQ(output.precision, "tf32");
        EXPECT_EQ(output.expected.factor, budgets.chained(output.spec.name, "tf32")) << output.spec.name;
    }
    for (const checker::Output& output : op("forward").timed.front().call.outputs) {
        EXPECT_EQ(output.precision, "tf32");
    }
}

// A sampled output is too large for the host, and what rounding makes of all of it with it.
TEST_F(LessonInTf32, RoundsNothingOfACallThatIsSampled) {
    checker::LessonToml tf32 = toml({"matmul"});
    tf32.precision = {{"matmul", "tf32"}};
    checker::Lesson lesson("00_test", "reference", tf32);
    cases::LessonCases all(lesson);
    cases::OpCases& matmul = all.add("matmul");
    matmul.add_drawn("whole", "N=2 C=33 OC=5");
    matmul.add_sampled("sampled", "N=2 C=33 OC=5");
    EXPECT_TRUE(matmul.at("whole").calls.front().rounded);
    EXPECT_FALSE(matmul.at("sampled").calls.front().rounded);
    EXPECT_DOUBLE_EQ(matmul.at("sampled").calls.front().sampled->factor,
                     lesson.budget_factor("matmul.out", "tf32") / std::sqrt(33));
}

TEST_F(LessonInTf32, HoldsTheOutputsBeforeASampledOneAsScratch) {
    checker::Lesson lesson("00_test", "reference", toml({"layernorm"}));
    cases::LessonCases all(lesson);
    cases::OpCases& layernorm = all.add("layernorm");
    layernorm.add_sampled("sampled", "B=2 T=3 C=4");
    const checker::Call& call = layernorm.at("sampled").calls.front();
    EXPECT_TRUE(call.outputs.empty());
    EXPECT_EQ(call.sampled->output.name, "out");
    ASSERT_EQ(call.scratch.size(), 2);
    EXPECT_EQ(call.scratch[0].name, "mean");
    EXPECT_EQ(call.scratch[1].name, "rstd");
    const cases::Sizes sizes{{"B", 2}, {"T", 3}, {"C", 4}};
    std::vector<float> inp(24), weight{1, 2, 3, 4}, bias{-1, 0, 1, 2};
    for (std::size_t i = 0; i < inp.size(); i++) { inp[i] = static_cast<float>(i * i % 7); }
    const cases::Values inputs{inp, weight, bias};
    const checker::Computed out = layernorm.spec().compute(sizes, inputs).back();
    for (std::size_t i = 0; i < inp.size(); i++) {
        const auto [value, floor] = call.sampled->expected(static_cast<long>(i), inputs);
        EXPECT_EQ(static_cast<float>(value), out.values[i]) << i;
        EXPECT_EQ(static_cast<float>(floor), out.floor[i / 4]) << i;
    }
}

TEST_F(LessonInTf32, NamesNoOpThatNobodyJudges) {
    const auto refusal = [&](const std::string& op) {
        checker::LessonToml tf32 = toml({"matmul"});
        tf32.precision = {{op, "tf32"}};
        return message_of([&] { add(tf32); });
    };
    EXPECT_EQ(refusal("matmul"), "");
    EXPECT_EQ(refusal("forward"), "") << "the model at the steps that the lesson serves";
    EXPECT_EQ(refusal("mamtul"), "lesson.toml: [precision.mamtul] is of no op of the lesson; did you mean matmul?");
    EXPECT_EQ(refusal("gelu"), "lesson.toml: [precision.gelu] is of no op of the lesson; there is matmul, forward");
}

// ---- what no TF32 can be ---------------------------------------------------------------------------------------------

namespace {

using Rounding = float (*)(float);

float to_nearest(float value) {
    return checker::as_factor(value, "tf32");
}

// What a tensor core does that is fed float32.
float truncated(float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~0x1FFFU);
}

float cut_to_bf16(float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~0xFFFFU);
}

float kept(float value) {
    return value;
}

using Results = std::map<std::string, std::vector<float>>;  // by output

float in_bf16(float value) {
    return checker::as_factor(value, "bf16");
}

// In float32, one product after another.
Results matmul_with(Rounding factor, const cases::Values& read, const Sizes& d) {
    const auto N = static_cast<std::size_t>(d["N"]), C = static_cast<std::size_t>(d["C"]);
    const auto OC = static_cast<std::size_t>(d["OC"]), stride = static_cast<std::size_t>(d["out_stride"]);
    std::vector<float> out(N * stride), inp(read[0].size()), weight(read[1].size());
    std::ranges::transform(read[0], inp.begin(), factor);
    std::ranges::transform(read[1], weight.begin(), factor);
    for (std::size_t n = 0; n < N; n++) {
        for (std::size_t o = 0; o < OC; o++) {
            float sum = 0;
            const float *const inp_n = &inp[n * C], *const weight_o = &weight[o * C];
            for (std::size_t c = 0; c < C; c++) { sum += inp_n[c] * weight_o[c]; }
            out[n * stride + o] = sum + (read.size() > 2 ? read[2][o] : 0.0F);
        }
    }
    return {{"out", out}};
}

// As two products of matrices around a softmax: the probabilities are factors too.
Results attention_with(Rounding factor, const cases::Values& read, const Sizes& d) {
    const auto B = static_cast<std::size_t>(d["B"]), T = static_cast<std::size_t>(d["T"]);
    const auto C = static_cast<std::size_t>(d["C"]), NH = static_cast<std::size_t>(d["NH"]), HS = C / NH;
    const float scale = 1 / std::sqrt(static_cast<float>(HS));
    Results results{{"out", std::vector<float>(B * T * C)}, {"lse", std::vector<float>(B * NH * T)}};
    std::vector<float> rounded(read[0].size());
    std::ranges::transform(read[0], rounded.begin(), factor);
    for (std::size_t head = 0; head < B * NH; head++) {
        const auto at = [&, b = head / NH, first = head % NH * HS](std::size_t t, std::size_t part) {
            return &rounded[(b * T + t) * 3 * C + part * C + first];
        };
        for (std::size_t t = 0; t < T; t++) {
            std::vector<float> att(t + 1);
            for (std::size_t s = 0; s <= t; s++) {
                for (std::size_t i = 0; i < HS; i++) { att[s] += at(t, 0)[i] * at(s, 1)[i]; }
                att[s] *= scale;
            }
            const float largest = std::ranges::max(att);
            float sum = 0;
            for (float& p : att) { sum += p = std::exp(p - largest); }
            results["lse"][head * T + t] = largest + std::log(sum);
            float* const out = &results["out"][((head / NH) * T + t) * C + head % NH * HS];
            for (std::size_t s = 0; s <= t; s++) {
                for (std::size_t i = 0; i < HS; i++) { out[i] += factor(att[s] / sum) * at(s, 2)[i]; }
            }
        }
    }
    return results;
}

// A call whose inputs are those of a lesson's case, or others in their place.
class CallInTf32 {
  public:
    explicit CallInTf32(const checker::Call& call) : call_(call) {
        for (const checker::Input& input : call.inputs) {
            std::vector<float>& values = inputs_[input.spec.name];
            values.resize(input.spec.bytes() / sizeof(float));
            input.fill(std::as_writable_bytes(std::span(values)), 1);
        }
    }
    std::vector<float>& input(const std::string& name) { return inputs_.at(name); }

    // What is said of results that are right.
    checker::PrecisionVerdict verdict(const Results& results) {
        std::vector<checker::Content> contents;
        std::deque<checker::Computed> computed;
        for (checker::Output& output : call_.outputs) {
            const std::span<const std::byte> bytes = std::as_bytes(std::span(results.at(output.spec.name)));
            contents.push_back({.after = {bytes.begin(), bytes.end()}});
            if (output.compute) {
                const checker::Computed& one = computed.emplace_back(output.compute(values()));
                output.expected = {.values = one.values, .floor = one.floor, .factor = one.factor};
            }
            EXPECT_LE(used(output, results), 0.7) << call_.where << ": of TF32's budget";
        }
        return checker::describe_precision(call_, values(), contents);
    }

    // The largest share of its budget that an element of each output uses, by output.
    std::map<std::string, double> used(const Results& results) const {
        std::map<std::string, double> shares;
        for (checker::Output output : call_.outputs) {
            const checker::Computed computed = output.compute ? output.compute(values()) : checker::Computed();
            if (output.compute) {
                output.expected = {.values = computed.values, .floor = computed.floor, .factor = computed.factor};
            }
            shares[output.spec.name] = used(output, results);
        }
        return shares;
    }

    cases::Values values() const {
        cases::Values values;
        for (const checker::Input& input : call_.inputs) { values.emplace_back(inputs_.at(input.spec.name)); }
        return values;
    }

  private:
    static double used(const checker::Output& output, const Results& results) {
        return checker::compare(output.spec.dims, output.columns, checker::Got(results.at(output.spec.name)),
                                output.expected)
            .used;
    }

    checker::Call call_;
    std::map<std::string, std::vector<float>> inputs_;
};

// From the shapes of what the call reads and writes.
Sizes matmul_sizes(const checker::Call& call) {
    const checker::Output& out = call.outputs.front();
    const auto C = static_cast<double>(call.inputs[0].spec.dims.columns());
    return {{"N", static_cast<double>(call.inputs[0].spec.dims.elements()) / C},
            {"C", C},
            {"OC", static_cast<double>(out.columns)},
            {"out_stride", static_cast<double>(out.spec.dims.columns())}};
}

Sizes attention_sizes(const checker::Call& call) {
    const checker::Dims& qkv = call.inputs.front().spec.dims;
    const auto lse =
        std::ranges::find(call.outputs, "lse", [](const checker::Output& output) { return output.spec.name; });
    return {{"B", static_cast<double>(qkv.size(0))},
            {"T", static_cast<double>(qkv.size(1))},
            {"C", static_cast<double>(qkv.size(2)) / 3},
            {"NH", static_cast<double>(lse->spec.dims.size(1))}};
}

Results results_of(const std::string& op, const checker::Call& call, const cases::Values& read, Rounding factor) {
    if (op == "attention") {
        return attention_with(factor, read, attention_sizes(call));
    }
    Results results = matmul_with(factor, read, matmul_sizes(call));
    if (op == "linear_gelu") {
        results["pre_gelu"] = results["out"];
        for (float& x : results["out"]) { x = static_cast<float>(cases::gelu_of(x, 0).first); }
    }
    return results;
}

}  // namespace

class InTf32 : public LessonInTf32, public testing::WithParamInterface<const char*> {
  protected:
    void SetUp() override {
        checker::LessonToml tf32 = toml({GetParam()});
        tf32.precision = {{GetParam(), "tf32"}};
        add(tf32);
    }
    // What is said of each call of the lesson where the op computes with such factors: how many of them show the precision.
    template <class Judge>
    int calls_that_show_it(Rounding factor, Judge judge) {
        int shows = 0;
        for (const checker::Case& c : op(GetParam()).cases) {
            for (const checker::Call& call : c.calls) {
                if (c.name == "long") {  // as the others, and takes seconds
                    continue;
                }
                CallInTf32 in(call);
                const checker::PrecisionVerdict verdict = in.verdict(results_of(GetParam(), call, in.values(), factor));
                judge(c.name + ": " + call.where, verdict);
                shows += verdict.shows ? 1 : 0;
            }
        }
        return shows;
    }
};

INSTANTIATE_TEST_SUITE_P(Ops, InTf32, testing::Values("matmul", "attention"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(InTf32, WhatRoundsOrCutsItsFactorsIsNeverTooAccurate) {
    for (const Rounding factor : {to_nearest, truncated}) {
        const int shows = calls_that_show_it(factor, [](const std::string& where, const auto& verdict) {
            EXPECT_FALSE(verdict.too_accurate) << where << ": " << verdict.too_accurate->text;
        });
        EXPECT_GE(shows, 7);
    }
}

TEST_P(InTf32, WhatComputesInFp32IsTooAccurateWhereverThePrecisionShows) {
    int too_accurate = 0;
    const int shows = calls_that_show_it(kept, [&](const std::string& where, const auto& verdict) {
        too_accurate += verdict.too_accurate ? 1 : 0;
        if (verdict.too_accurate) {
            EXPECT_TRUE(verdict.too_accurate->text.starts_with("TF32 is not active: ")) << verdict.too_accurate->text;
        }
        EXPECT_FALSE(verdict.shows) << where;
    });
    EXPECT_EQ(shows, 0);
    EXPECT_EQ(too_accurate, calls_that_show_it(to_nearest, [](const std::string&, const auto&) {}));
}

TEST_F(LessonInTf32, AllowsNoOutputTheErrorOfBf16) {
    for (const auto& [lesson, ops] : {std::pair("11_tf32", std::vector<std::string>{"matmul", "attention"}),
                                      {"12_cublaslt_fusion", {"linear", "linear_gelu"}}}) {
        checker::LessonToml tf32 = toml(ops);
        for (const std::string& each : ops) { tf32.precision[each] = "tf32"; }
        add(tf32, lesson);
        for (const std::string& each : ops) {
            const checker::Call& halfway = first_call(each, "halfway");
            const CallInTf32 in(halfway);
            for (const Rounding factor : {in_bf16, cut_to_bf16}) {
                for (const auto& [output, used] : in.used(results_of(each, halfway, in.values(), factor))) {
                    EXPECT_GE(used, 1.5) << each << "." << output << ", rounded or cut to bfloat16";
                }
            }
        }
    }
}

// Small integers, zeros: TF32 has no error there that could be missed, and nothing is said.
TEST_P(InTf32, FactorsThatItHoldsExactlyTellNothing) {
    for (const float step : {0.0F, 1.0F}) {
        const checker::Call& call =
            first_call(GetParam(), std::string_view(GetParam()) == "matmul" ? "odd_stride" : "regular");
        CallInTf32 in(call);
        for (const checker::Input& input : call.inputs) {
            if (input.spec.name == "bias") {  // which is no factor
                continue;
            }
            std::vector<float>& values = in.input(input.spec.name);
            for (std::size_t i = 0; i < values.size(); i++) { values[i] = step * static_cast<float>(i % 7); }
        }
        checker::Call of = call;
        const std::vector<checker::Computed> exact = call.rounded(in.values());
        std::vector<checker::Content> contents;
        for (std::size_t i = 0; i < exact.size(); i++) {
            const auto bytes = std::as_bytes(std::span(exact[i].values));
            contents.push_back({.after = {bytes.begin(), bytes.end()}});
            of.outputs[i].expected.values = exact[i].values;
        }
        const checker::PrecisionVerdict verdict = checker::describe_precision(of, in.values(), contents);
        EXPECT_FALSE(verdict.too_accurate) << verdict.too_accurate->text;
        EXPECT_FALSE(verdict.shows);
    }
}
