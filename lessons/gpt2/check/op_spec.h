// SPDX-License-Identifier: MIT
//
// What the checker knows of an op, said once in lessons/gpt2/check/OP.cpp: its tensors, how it is called, what it moves
// and computes. Its cases are the calls that the case files list (loader.h); a lesson adds its own (cases.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/cases/lesson.h"
#include "lessons/gpt2/check/sizes.h"
#include "lessons/gpt2/ops.h"

namespace cases {

using checker::Buffers;
using checker::defines;
using checker::Library;
using Values = std::vector<std::span<const float>>;  // of a call's inputs, in its order

// How a timed call's input is drawn.
using Draw = std::function<checker::Input(const std::string& name, const std::string& dims, const Sizes&)>;
Draw normal(float sigma = 1.0F, checker::Element element = checker::Element::f32);
Draw uniform(float low, float high);
Draw integers_below(const std::string& size);
// From -largest to largest in equal steps.
Draw ramp(float largest);
// Numbers between 1 and 1.06 that TF32 holds exactly, each halfway between two of bfloat16. What rounds them to bfloat16, or
// cuts bits off, changes all by 2^-8 in one direction.
Draw halfway_in_bf16();
// Draws as `draw` does, then puts change(row, column, columns, drawn) into each element, where a row is the last axis.
using Change = std::function<float(long row, long column, long columns, float drawn)>;
Draw changed(Draw draw, Change change);
// Rows of layernorm whose float32 sums lose most: far from 0, alike, with one channel far from the others, tiny, huge.
float extreme_row(long row, long column, long columns, float drawn);
// Scores or logits of a softmax, by the row: near 80,000 and -80,000, below -1e30, of both signs and huge, one far above the
// others, partly minus infinity, rising, all 0, a second half that is 87 above the first, as drawn.
float extreme_logit(long row, long column, long columns, float drawn);
// Factors of a product of which row 1 has a NaN: only that row, or column, of the product has one.
Draw nan_in_row_1();

struct InputSpec {
    std::string name;  // the parameter in ops.h
    std::string dims;  // "B T 3C/c": three times C along the last axis, whose index is called c
    Draw draw;
    bool factor = false;  // of products of matrices: a precision of fewer bits rounds it
    checker::Element element = checker::Element::f32;
};

struct OutputSpec {
    std::string name;
    std::string dims;
    std::string columns = {};    // the size that says how much of the last axis is written; empty: all of it
    bool exact_zeros = false;    // where the reference is 0, nothing but 0 is right
    std::string precision = {};  // whose budget it has, where that is not the op's: "bf16"
    checker::Element element = checker::Element::f32;
    Draw before = {};  // of an in-out tensor: what a timed or drawn call finds there; none: the op only writes it
};

// What a call must do at least: each input read and each output written once, a multiply-add as two FLOP and every other
// operation, a tanh and an exp too, as one. 0 bytes where nobody says it.
struct Cost {
    double bytes = 0;
    double flop = 0;
};

// What a time of the op is shown beside, where it is judged against something else.
enum class Bound { nothing, copy, arithmetic };

// A case on drawn inputs; some of them drawn otherwise than the op's.
struct DrawnCase {
    std::string name;
    std::string shape;
    std::map<std::string, Draw> draws = {};
    // So many that a device that can run some blocks of a launch alone runs some; a rehearsal has no such case.
    bool by_blocks = false;
};

// The cases of an op on rows of logits (N, Vp).
std::vector<DrawnCase> cases_of_logits();

struct OpSpec {
    std::string name;
    std::string precision = "fp32";  // in which it computes; a lesson's is that of its lesson.toml
    bool has_probs = true;           // ActivationsOf::has_probs; a lesson's is that of its step
    // The sizes that lesson.toml names of a timed call: "B T C". A size called `outputs` says how many of the op's outputs
    // a drawn call wants; those behind them are null.
    std::string shape;
    std::string case_shape = {};  // those that name a case, where its call has the first of them
    std::vector<InputSpec> inputs = {};
    std::vector<OutputSpec> outputs = {};  // in the order in which a learner should look at them
    bool (*defined)(const Library&) = nullptr;
    void (*run)(const Library&, const Buffers&, const Sizes&, Context&) = nullptr;
    std::size_t (*scratch_bytes)(const Library&, const Sizes&) = nullptr;
    std::string scratch_dims = "";  // a tensor of floats that the scratch is for
    Cost (*cost)(const Sizes&) = nullptr;

    // What a timed or drawn call takes where its shape does not say it; and its sizes in a rehearsal, at most.
    std::string defaults = {};
    std::string dry_run = {};
    Bound bound = Bound::nothing;
    bool is_model = false;    // its outputs are a model's tensors, each computed from those before it
    bool warm = false;        // a whole model's step, timed with the caches as it left them
    std::string summed = {};  // the size that says how long an output's sum is, and nothing of the outputs

    // What a device needs of a call, for lesson.toml's counters.
    std::vector<checker::Needed> (*needed)(const Sizes&) = nullptr;
    // The products of each of its sums. In a precision that rounds factors an error is no larger where there are more of
    // them, so that floors are divided by the root of it (reference/BUDGET.md).
    double (*terms)(const Sizes&) = nullptr;
    // What each output of drawn inputs should be, without `factor`; and one element of one of them, with its floor.
    std::vector<checker::Computed> (*compute)(const Sizes&, const Values&) = nullptr;
    std::pair<double, double> (*element)(const Sizes&, std::size_t output, long element, const Values&) = nullptr;
    // The vendor's routine on the device that the lesson runs on, in the op's precision.
    std::optional<checker::Vendor> (*library)(const Sizes&, const std::string& precision) = nullptr;

    // Cases of every lesson that has the op, beside those of the case files; `few` is less than a vector holds.
    std::vector<DrawnCase> drawn_cases = {};
    // Cases for OpCases::add_unwritten(), of inputs with more elements than an int can count, and fewer than 2^32: an index
    // that overflows is negative. They also have more rows, or heads, than a grid has blocks in y.
    std::vector<DrawnCase> huge_cases = {};

    // The first shape of OpCases::add_turns(), in which each row is whole float4s; empty: none.
    std::string turns = {};

    // An op whose tensors depend on the model makes its calls itself.
    std::vector<checker::Call> (*model_calls)(const checker::CaseFile&, const OpSpec& spec) = nullptr;
    checker::Call (*drawn_call)(const Sizes&, const OpSpec& spec) = nullptr;
};

inline constexpr double kFloat = sizeof(float), kBf16 = 2;  // bytes

#define OP(name) extern const OpSpec name##_spec;
#include "lessons/gpt2/ops.def"
#undef OP

// Every op of ops.def, in its order. Null for one that it does not list.
std::span<const OpSpec* const> all_ops();
const OpSpec* find_op(std::string_view name);

// The precision whose budget an output has.
const std::string& precision_of(const OpSpec& spec, const OutputSpec& output);

// What an output's floors are times in its precision, at these sizes.
double floors_times(const OpSpec& spec, const OutputSpec& output, const Sizes& sizes);

// The output's dims: where nothing is padding, the last axis is called as its columns are.
std::string dims_of(const OutputSpec& output, const Sizes& sizes);

// Calls an op with a Context. Throws checker::LeftChanged if the Context has another stream afterwards.
template <class Op>
void call_with(const Context& ctx, Op&& op) {
    const CUstream_st* const stream = ctx.stream;
    op();
    if (ctx.stream != stream) {
        throw checker::LeftChanged(
            "ctx.stream is another stream after the call: what it is set to is to be taken back");
    }
}

// The op's run with these sizes, on the Context of the call.
checker::RunFunction run_of(const OpSpec& spec, const Sizes& sizes, int threads = 1);

checker::Scratch scratch_of(const OpSpec& spec, const Sizes& sizes);

// Makes the call say what its outputs are where factors are rounded to the op's precision. Not in fp32, and not where the
// op does not say how it is computed or what its factors are.
void add_rounded(checker::Call& call, const OpSpec& spec, const Sizes& sizes);

// A call on drawn inputs, whose outputs are computed where the op says how and else compared with the solution's.
// `factors` has the budget factor of each output.
checker::Call drawn_call(const OpSpec& spec, const Sizes& sizes, const std::vector<double>& factors,
                         const std::vector<std::string>& null = {}, const std::map<std::string, Draw>& draws = {});

}  // namespace cases
