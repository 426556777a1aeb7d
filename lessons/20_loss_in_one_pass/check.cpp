// SPDX-License-Identifier: MIT
#include <limits>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

// All but every ninth column are masked: most float4s have nothing that counts. The padding is NaN.
float masked(long /*row*/, long column, long columns, float drawn) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return column >= columns - 3 ? std::numeric_limits<float>::quiet_NaN() : column % 9 == 0 ? drawn : -kInfinity;
}

// Each logit is read once, in requests of 32 lanes' 16 bytes, and has one exponential, in fp32. The threads of a block, in
// `warps` warps, come to two barriers for each of a row's two reductions. Nothing is allocated.
void count_once(checker::Call& call, double rows, double V, double warps) {
    const double elements = rows * V, bytes = kFloat * elements;
    call.needed = {{"bytes_asked", bytes},
                   {"bytes_moved", bytes},
                   {"requests", bytes / (32 * 16)},
                   {"special_functions", elements},
                   {"special_functions_of_doubles"},
                   {"barriers", rows * 4 * warps},
                   {"allocations"}};
}

}  // namespace
}  // namespace cases

void cases::add_own(LessonCases& lesson) {
    OpCases& loss = lesson.op("loss");
    count_once(loss.at("long").calls.front(), 2, 50257, 16);
    loss.add_drawn("few", "N=9 V=31 Vp=33");
    loss.add_drawn("odd_stride", "N=5 V=1023 Vp=1027");
    loss.add_drawn("batch", "N=3 V=2048 Vp=2048");  // a float4 batch of each thread of a small block
    loss.add_drawn("block", "N=3 V=2049 Vp=2051");  // one column more
    loss.add_drawn("batches", "N=2 V=8195 Vp=8196");
    // Aligned rows of one float4 less than a batch of each thread of a small and of a large block.
    loss.add_drawn("almost_batch", "N=3 V=2047 Vp=2048");
    loss.add_drawn("almost_batches", "N=3 V=8191 Vp=8192");
    loss.add_drawn("longer", "N=2 V=61003 Vp=61003");
    loss.add_drawn("whole_vectors", "N=3 V=1100 Vp=1100");
    loss.add_drawn("masked", "N=2 V=3001 Vp=3004", {{"logits", changed(normal(3.0F), masked)}});
    add_misaligned(loss, "whole_vectors");
    loss.add_unwritten("N=53000 V=50257 Vp=50304", "huge_blocks");  // as huge_inputs, with long rows

    // Each block: lesson 12's four products, attention and two residual_layernorms. Then the encoder, the first layernorm, the
    // logits and the losses.
    constexpr double kL = 2;
    lesson.op("forward").at("regular").calls.front().needed = {{"library_calls", kL * 4 + 1},
                                                               {"kernel_launches", kL * 3 + 3}};
}
