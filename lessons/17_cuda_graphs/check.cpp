// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "lessons/gpt2/check/cases.h"
#include "lessons/gpt2/check/predict.h"

namespace cases {
namespace {

WrongLogits baked_in(std::string_view what, const Beginnings& of) {
    return {
        fmt::format("{}_baked_in", what),
        fmt::format(
            "the {} of an earlier call: a graph replays with what it was captured with, but for what its nodes read "
            "from memory",
            what),
        of};
}

WrongLogits call_before(const Beginnings& of) {
    return {"call_before", "these are the logits of the call before", of};
}

// A program's calls in turn, with one Context. Suspects are what a graph may keep that should have changed.
class Sequence {
  public:
    Sequence(OpCases& predict, checker::Case& one)
        : file_(predict.lesson().case_file("lesson17")), precision_(predict.spec().precision), case_(one) {
        case_.sequence = true;
        case_.calls.clear();
    }
    checker::Call& add(const Beginnings& of, const std::vector<WrongLogits>& wrong = {}) {
        checker::Call call = predict_call(file_, precision_, of, wrong);
        call.where = fmt::format("call {}, {}", case_.calls.size() + 1, call.where);
        return case_.calls.emplace_back(std::move(call));
    }

  private:
    const checker::CaseFile& file_;
    std::string precision_;
    checker::Case& case_;
};

// In the smallest bucket: other tokens, another position, several sequences, another model.
void add_in_turn(OpCases& predict) {
    checker::Case& one = predict.at("lesson17");
    one.name = "in_turn";
    Sequence in_turn(predict, one);
    in_turn.add({.first = 0, .T = 6});
    in_turn.add({.first = 1, .T = 6}, {baked_in("tokens", {.first = 0, .T = 6})});
    // The replay of a graph that is there, and what the products of its 64 rows take.
    const checker::CaseFile& file = predict.lesson().case_file("lesson17");
    const double C = file.dim("C"), rows = 64;
    in_turn.add({.first = 1, .T = 20}, {baked_in("position", {.first = 1, .T = 6})}).needed = {
        {"api_calls", 4}, {"library_flop", 2 * rows * C * (12 * C * file.dim("L") + file.dim("Vp"))}};
    in_turn.add({.first = 0, .B = 2, .T = 9});
    in_turn.add({.first = 1, .T = 7, .of_twice = true}, {baked_in("parameters", {.first = 1, .T = 7})});
    // What else works with the Context has asked for a larger workspace: that of the first graph is given back.
    checker::Call& moved =
        in_turn.add({.first = 1, .T = 7}, {baked_in("parameters", {.first = 1, .T = 7, .of_twice = true})});
    moved.run = [run = std::move(moved.run)](const Library& library, const Buffers& at) {
        at.kept<Context>().workspace(std::size_t{1} << 20);
        run(library, at);
    };
    in_turn.add({.first = 0, .T = 1}, {call_before({.first = 1, .T = 7})});
}

// Texts that grow from bucket to bucket and begin anew.
void add_buckets(OpCases& predict) {
    Sequence buckets(predict, predict.op().add_case("buckets", predict.at("in_turn").shape));
    buckets.add({.first = 0, .T = 64});  // all of a bucket
    buckets.add({.first = 0, .T = 65}, {call_before({.first = 0, .T = 64})});
    buckets.add({.first = 2, .T = 150}, {call_before({.first = 0, .T = 65})});  // all that there is room for
    buckets.add({.first = 1, .T = 66},
                {baked_in("position", {.first = 1, .T = 65}), call_before({.first = 2, .T = 150})});
    buckets.add({.first = 1, .T = 2}, {call_before({.first = 1, .T = 66})});
    buckets.add({.first = 1, .B = 2, .T = 70});
}

}  // namespace
}  // namespace cases

void cases::add_own(LessonCases& lesson) {
    add_in_turn(lesson.op("predict"));
    add_buckets(lesson.op("predict"));
}
