// SPDX-License-Identifier: MIT
//
// The cases of a lesson's ops and what the ops are timed on: what the case files hold, the shapes of lesson.toml, and
// what a lesson adds of its own in its check.cpp:
//
//   void cases::add_own(cases::LessonCases& lesson) {
//       lesson.op("encoder").add_drawn("wide", "B=2 T=3 C=1000 Vp=17");
//   }
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/gpt2/check/loader.h"

namespace cases {

class OpCases {
  public:
    OpCases(checker::Lesson& lesson, const OpSpec& spec);

    // The op's calls in reference/cases/FILE.safetensors.
    void add_file(const std::string& file);
    // Inputs are drawn, and the outputs that they should give are computed. `null`: parameters that are null pointers.
    checker::Case& add_drawn(const std::string& name, std::string_view shape,
                             const std::map<std::string, Draw>& draws = {});
    checker::Call drawn(const Sizes& sizes, const std::vector<std::string>& null = {},
                        const std::map<std::string, Draw>& draws = {});
    // The same of a last output that may be too large for the host: some elements are judged, of some blocks of the launch
    // or of all; the outputs before it are held and not judged. For devices that take such calls.
    void add_sampled(const std::string& name, std::string_view shape, const std::map<std::string, Draw>& draws = {});
    // The same where the device can run some blocks alone, and else whole.
    void add_by_blocks(const std::string& name, std::string_view shape, const std::map<std::string, Draw>& draws = {});
    // One of more outputs than an int can count, called `huge`, where the device takes it.
    void add_huge(std::string_view shape);
    // Adds a case with inputs or scratch that large, where the device can run some blocks alone: its inputs are unwritten,
    // and only the places that the op reads and writes are judged.
    void add_unwritten(std::string_view shape, const std::string& name = "huge");
    // One drawn shape with so many threads each.
    void add_with_threads(const std::string& name, std::string_view shape, const std::vector<int>& threads);
    // Adds a sequence called `turns`, on one Context, if the op has OpSpec::turns. Its calls are of that shape, of that shape
    // with one size doubled, for each size, and with two sizes exchanged, for each two. Then the first shape comes again, with
    // other values at the same addresses and in another stream, and a last time as at first: its problem is known by then.
    void add_turns();
    // A case that is there already.
    checker::Case& at(std::string_view name);

    // What a timed call takes beside what its shape says: "Vp=4096".
    void time_with(std::string defaults) { timed_with_ = std::move(defaults); }
    void time_with_null(const std::string& parameter) { timed_null_.push_back(parameter); }
    void add_timed(const Sizes& sizes, checker::Baseline against) { add_timed(sizes, against, timed_null_); }
    // A call of a forward pass, "N=4096 C=768 OC=50257 -bias" where `bias` is null: as a case called `call`, whose outputs
    // nobody compares, to be counted, and timed.
    void add_call(std::string_view call, checker::Baseline against);
    Sizes rehearsed(const Sizes& sizes) const;  // for a rehearsal

    const OpSpec& spec() const { return spec_; }
    checker::Lesson& lesson() { return lesson_; }
    checker::Op& op() { return op_; }

  private:
    std::vector<double> factors(const Sizes& sizes);  // the budget factor of each output
    void add_timed(const Sizes& sizes, checker::Baseline against, const std::vector<std::string>& null);

    checker::Lesson& lesson_;
    const OpSpec spec_;  // in the lesson's precision
    checker::Op& op_;
    std::string timed_with_;
    std::vector<std::string> timed_null_;
};

class LessonCases {
  public:
    explicit LessonCases(checker::Lesson& lesson) : lesson_(lesson) {}
    OpCases& add(std::string_view op);  // with the cases of all files that every lesson shares; FileError: no such op
    OpCases& op(std::string_view name);
    checker::Lesson& lesson() { return lesson_; }

  private:
    checker::Lesson& lesson_;
    std::deque<OpCases> ops_;
};

// Returns true if the lesson's step stores probabilities: before its track has the op `loss`, which makes losses of logits.
bool has_probs(const std::string& lesson);

// Adds the whole step of a lesson that gives a model, as lesson.model().
void add_model(checker::Lesson& lesson);

// A lesson's own, in its check.cpp. A lesson that has none needs no check.cpp.
void add_own(LessonCases& lesson);

// Asks the Context for a workspace before the call, as another op would: a smaller one is freed. By default it is twice as
// large as the largest that an op of the course asks for.
void ask_for_workspace_before(checker::Call& call, std::size_t bytes = std::size_t{64} << 20);

// ---- awkward cases, for lessons whose idea meets them -----------------------------------------------------------------

// Adds a case called `shifted`: the first call of `of_case` with tensors that start 4 bytes after a multiple of 64, first
// all of them, then each alone. The case should have rows of whole float4s.
checker::Case& add_misaligned(OpCases& op, const std::string& of_case);
// As add_misaligned(), of the first of the calls of OpCases::add_turns(), if the op has them and no case `shifted`.
void add_misaligned_if_none(OpCases& op);
// As add_misaligned(), on one Context, after the call as it is: what it keeps must not be used at another alignment.
checker::Case& add_misaligned_in_turn(OpCases& op, const std::string& of_case);
// As add_misaligned(), of a small product of whole float4s.
void add_misaligned_matmul(OpCases& matmul);
// Adds the cases of a causal_softmax with a warp per row: misaligned ones, scores far from 0 or far apart, and two shapes that
// are counted, with `reads` reads of each score.
void add_rows_causal_softmax(OpCases& causal_softmax, int reads);

// N = C = OC = kSquare, for which the device counts what `of_square` names; one output, one channel, primes and their
// like, and GPT-2's vocabulary (some blocks of it, where the device can run some alone).
inline constexpr int kSquare = 256;
void add_matmul_shapes(OpCases& matmul, const std::vector<checker::Needed>& of_square);
// An output of more than 2^31 elements, whose index no int holds: some blocks of it, or on a GPU that has 9 GB all.
void add_huge_matmul(OpCases& matmul);
// The last token's key is NaN and its value infinite: no other row of out or lse may see that. For kernels that work token by
// token; a tile multiplies by weights of 0.
void add_unseen_token(OpCases& attention);
// Queries, keys and values, and scores, of more than 2^31 elements each: some blocks.
void add_huge_attention(OpCases& attention);
// Adds the cases of an attention by tiles of keys, without scores in memory: two lengths for which the device counts what
// `needed` names, heads of each size, misaligned ones, and inputs and outputs of more than 2^31 elements.
void add_tiled_attention(OpCases& attention, std::vector<checker::Needed> (*needed)(const Sizes&));

}  // namespace cases
