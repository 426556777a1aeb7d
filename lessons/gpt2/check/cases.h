// SPDX-License-Identifier: MIT
//
// The cases of GPT-2's ops, from the committed tensors, and what the ops are timed on: every lesson that has a file of an
// op checks it with these. add_OP registers the op and its cases; time_OP is a call at a given shape.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checker/cases/check.h"
#include "lessons/gpt2/config.h"

namespace cases {

checker::Op& add_encoder(checker::Lesson& lesson);
checker::Op& add_layernorm(checker::Lesson& lesson);
checker::Op& add_gelu(checker::Lesson& lesson);
checker::Op& add_residual(checker::Lesson& lesson);
checker::Op& add_matmul(checker::Lesson& lesson);
checker::Op& add_causal_softmax(checker::Lesson& lesson);
checker::Op& add_attention(checker::Lesson& lesson);
checker::Op& add_softmax(checker::Lesson& lesson);
checker::Op& add_crossentropy(checker::Lesson& lesson);
checker::Op& add_forward(checker::Lesson& lesson);

// One more case of an op: the op-level inputs of a case file, as a case of the file's name.
checker::Case& add_gelu_case(checker::Lesson& lesson, checker::Op& op, const std::string& file_name);
// Rows of 180 channels, where the models' have 128 at most.
void add_wide_layernorm_case(checker::Lesson& lesson, checker::Op& op);
// Tensors that start 4 bytes beyond a multiple of 64: first all of them (op_c63 but for its first element), then each
// alone. Of layernorm, whose rows of 64 channels would start at multiples of 16 else, each alone.
void add_shifted_gelu_case(checker::Lesson& lesson, checker::Op& op);
void add_shifted_residual_case(checker::Lesson& lesson, checker::Op& op);
void add_shifted_layernorm_case(checker::Lesson& lesson, checker::Op& op);
// Rows of 1,000 channels, where the committed cases have 64 at most: the reference is computed.
checker::Case& add_wide_encoder_case(checker::Lesson& lesson, checker::Op& op);
// With several threads the case is called `threads`.
checker::Case& add_matmul_case(checker::Lesson& lesson, checker::Op& op, const std::string& file_name, int threads = 1);

// N = C = OC = kSquare, for which the device counts what `of_square` names; one output, one channel, primes and their
// like, and GPT-2's vocabulary (some blocks of it, where the device can run some alone): the reference is computed.
inline constexpr int kSquare = 256;
void add_matmul_shapes(checker::Lesson& lesson, checker::Op& op, const std::vector<checker::Needed>& of_square);

// Tensors that start 4 bytes beyond a multiple of 64, rows of which would start at multiples of 16 else, and an output
// of which the first column is asked for alone, so that the rest starts like that too.
void add_shifted_matmul_case(checker::Lesson& lesson, checker::Op& op);

// An output of more than 2^31 elements, whose index no int holds: some blocks of it, or on a GPU that has 9 GB all.
void add_huge_matmul_case(checker::Lesson& lesson, checker::Op& op);

// What the device counts. Of an op of rows: in the case whose rows begin on sectors and have a multiple of 128 channels;
// `needed` of the elements of a call's first input.
void count_rows(checker::Op& op, const std::function<std::vector<checker::Needed>(double elements)>& needed);

struct MatmulDims {
    int N = 0, C = 0, OC = 0;
    int out_stride = 0;  // 0: OC
    bool bias = true;
    int stride() const { return out_stride == 0 ? OC : out_stride; }
    std::string text() const;  // "N=256 C=768 OC=2304"
};

// A case of which some elements are judged: checker::Sampled. For devices that take those.
void add_sampled_matmul_case(checker::Lesson& lesson, checker::Op& op, const std::string& name, const MatmulDims& dims);

// A fresh Context for each call: its workspace is memory that the worker poisons. Or one that is kept, as a model does.
enum class Contexts { fresh, kept };
checker::RunFunction run_matmul(const MatmulDims& dims, Contexts contexts = Contexts::fresh, int threads = 1);

checker::Timed time_encoder(int B, int T, int C, int Vp);
checker::Timed time_layernorm(int B, int T, int C);
checker::Timed time_gelu(int N);
checker::Timed time_residual(int N);
// Judged by a float64 product; `factor` is lesson.budget_factor("matmul.out").
checker::Timed time_matmul(const MatmulDims& dims, double factor);
// Beside the vendor's library at N = C = OC = 4096, and at GPT-2's own shapes for B=4, T=1024; in a rehearsal at the one
// that is given.
void time_large_matmuls(checker::Lesson& lesson, checker::Op& op, const MatmulDims& rehearsed);
checker::Timed time_causal_softmax(int B, int NH, int T);
checker::Timed time_attention(int B, int T, int C, int NH);
checker::Timed time_softmax(int N, int V, int Vp);
checker::Timed time_crossentropy(int N, int Vp);
checker::Timed time_forward(const Config& config, int B, int T);

}  // namespace cases
