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
    Sequence(OpCases& predict, checker::Case& one, Vocabulary vocabulary)
        : file_(predict.lesson().case_file("lesson17")), spec_(predict.spec()), vocabulary_(vocabulary), case_(one) {
        case_.sequence = true;
        case_.calls.clear();
    }
    checker::Call& add(const Beginnings& of, const std::vector<WrongLogits>& wrong = {}) {
        checker::Call call = predict_call(file_, spec_, of, wrong, vocabulary_);
        call.where = fmt::format("call {}, {}", case_.calls.size() + 1, call.where);
        return case_.calls.emplace_back(std::move(call));
    }
    // The same of a call that finds its graph, and needs the products of its bucket's rows.
    void add_replay(int bucket, const Beginnings& of, const std::vector<WrongLogits>& wrong) {
        const double C = file_.dim("C"), V = file_.dim(vocabulary_ == Vocabulary::exact ? "V" : "Vp");
        add(of, wrong).needed = {{"api_calls", 4},
                                 {"library_flop", 2.0 * of.B * bucket * C * (12 * C * file_.dim("L") + V)}};
        replays_++;
        case_.limited_calls =
            replays_ == 1 ? "a token that finds its graph" : fmt::format("{} tokens that find their graph", replays_);
    }

  private:
    const checker::CaseFile& file_;
    const OpSpec& spec_;
    Vocabulary vocabulary_;
    checker::Case& case_;
    int replays_ = 0;
};

// In the smallest bucket: other tokens, another position, another model, several sequences.
void add_in_turn(OpCases& predict) {
    checker::Case& one = predict.at("lesson17");
    one.name = "in_turn";
    Sequence in_turn(predict, one, Vocabulary::padded);
    in_turn.add({.first = 0, .T = 6});
    in_turn.add({.first = 1, .T = 6}, {baked_in("tokens", {.first = 0, .T = 6})});
    in_turn.add_replay(64, {.first = 1, .T = 20}, {baked_in("position", {.first = 1, .T = 6})});
    // No call in between makes a graph: one may grow the workspace, and this call would capture again, with its own parameters.
    in_turn.add({.first = 1, .T = 7, .doubled = true}, {baked_in("parameters", {.first = 1, .T = 7})});
    in_turn.add({.first = 1, .T = 5, .other_acts = true}).where += ", other activations of the same parameters";
    in_turn.add({.first = 0, .B = 2, .T = 9});
    // What else works with the Context has asked for a larger workspace: that of the first graph is given back.
    checker::Call& moved =
        in_turn.add({.first = 1, .T = 7}, {baked_in("parameters", {.first = 1, .T = 7, .doubled = true})});
    moved.where += ", after the Context's workspace has grown";
    ask_for_workspace_before(moved);
    in_turn.add({.first = 0, .T = 1}, {call_before({.first = 1, .T = 7})});
}

// Texts that grow from bucket to bucket and begin anew. As in the program, the Context's stream is the default one. No id from
// V on is in wte.
void add_buckets(OpCases& predict) {
    checker::Case& one = predict.op().add_case("buckets", predict.at("in_turn").shape);
    Sequence buckets(predict, one, Vocabulary::exact);
    buckets.add({.first = 0, .T = 64});  // all of a bucket
    buckets.add({.first = 0, .T = 65}, {call_before({.first = 0, .T = 64})});
    buckets.add({.first = 2, .T = 150}, {call_before({.first = 0, .T = 65})});  // all that there is room for
    buckets.add_replay(128, {.first = 1, .T = 66},
                       {baked_in("position", {.first = 1, .T = 65}), call_before({.first = 2, .T = 150})});
    buckets.add_replay(64, {.first = 1, .T = 64}, {call_before({.first = 1, .T = 66})});
    buckets.add({.first = 1, .T = 2}, {call_before({.first = 1, .T = 64})});
    buckets.add({.first = 0, .B = 2, .T = 50});  // as many rows as one sequence in a bucket of 128
    buckets.add({.first = 1, .B = 2, .T = 70});
    for (checker::Call& call : one.calls) {
        call.where += ", ctx.stream null";
        call.run = [run = std::move(call.run)](const Library& library, const Buffers& at) {
            at.kept<Context>().stream = nullptr;
            run(library, at);
        };
    }
}

// Two lengths beyond the last power of 2 that there is room for: both are padded to all of the room.
void add_room(OpCases& predict) {
    checker::Case& one = predict.op().add_case("room", predict.at("in_turn").shape);
    Sequence room(predict, one, Vocabulary::padded);
    room.add({.first = 2, .T = 150});
    room.add_replay(150, {.first = 1, .T = 140}, {call_before({.first = 2, .T = 150})});
}

}  // namespace
}  // namespace cases

void cases::add_own(LessonCases& lesson) {
    add_in_turn(lesson.op("predict"));
    add_buckets(lesson.op("predict"));
    add_room(lesson.op("predict"));
}
