// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

namespace {

// A request is 32 lanes' 16 bytes at best.
constexpr double kRequestBytes = 32 * 16;

// Rows of GPT-2's 768 channels: `tensors` of rows are read or written, each once. A row needs the weights and the biases as
// well, which L1 has for all rows but a block's first, and stores its mean and its reciprocal deviation.
void count_rows(cases::OpCases& op, double tensors) {
    constexpr double kRows = 16, kChannels = 768;
    const double bytes = cases::kFloat * (tensors + 2) * kRows * kChannels;
    op.add_drawn("row768", "B=2 T=8 C=768").calls.back().needed = {{"bytes_asked", bytes + 2 * cases::kFloat * kRows},
                                                                   {"requests", bytes / kRequestBytes + 2 * kRows},
                                                                   {"sectors"}};
}

}  // namespace

void cases::add_own(LessonCases& lesson) {
    OpCases &layernorm = lesson.op("layernorm"), &residual_layernorm = lesson.op("residual_layernorm");
    add_misaligned_layernorm(layernorm);
    add_misaligned_layernorm(residual_layernorm, "lesson13");
    count_rows(layernorm, 2);
    count_rows(residual_layernorm, 4);
    residual_layernorm.add_drawn("head64", "B=2 T=16 C=128");
    residual_layernorm.add_drawn("odd", "B=3 T=37 C=60");
    for (OpCases* op : {&layernorm, &residual_layernorm}) {
        op->add_drawn("narrow", "B=1 T=9 C=3");    // fewer channels than lanes
        op->add_drawn("one", "B=1 T=1 C=1");       // a row of variance 0
        op->add_drawn("ragged", "B=3 T=5 C=161");  // rows that start anywhere
        op->add_drawn("edge", "B=1 T=3 C=1668");   // one float4 more than 13 for each lane
        op->add_drawn("xxl", "B=1 T=2 C=5000");
    }
    // A block launches attention's softmax and two residual_layernorms, and calls cuBLAS for its four products and, for each
    // sequence, attention's two. Then the encoder, the first layernorm, the logits, softmax and crossentropy.
    constexpr double kB = 2, kL = 2;
    lesson.op("forward").at("regular").calls.front().needed = {{"library_calls", kL * (4 + 2 * kB) + 1},
                                                               {"kernel_launches", kL * 3 + 4}};
}
