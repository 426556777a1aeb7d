// SPDX-License-Identifier: MIT
//
// predict's calls on a model of a case file, whose forward pass says what the logits are after each token of each sequence.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lessons/gpt2/check/op_spec.h"

namespace cases {

// A call with the first T tokens of B of the file's sequences, from `first` on.
struct Beginnings {
    int first = 0;
    int B = 1;
    int T = 1;
    // Of a model whose parameters lie elsewhere, and whose last layernorm gives twice as much: so are its logits.
    bool doubled = false;
    bool other_acts = false;  // with other activations; nothing may be written to those that earlier calls have had
    bool in_place = false;    // the doubled parameters lie where the others lay
};

// What the logits of a call fit where they are those of another.
struct WrongLogits {
    std::string id;
    std::string what;
    Beginnings are;  // of as many sequences
};

// Of a model whose vocabulary is padded, as the file's is, or whose wte has no rows beyond V.
enum class Vocabulary { padded, exact };

// With room for as many sequences and tokens as the file has. `spec` has the step's precision and activations.
checker::Call predict_call(const checker::CaseFile& file, const OpSpec& spec, const Beginnings& of,
                           std::span<const WrongLogits> wrong = {}, Vocabulary vocabulary = Vocabulary::padded);

}  // namespace cases
